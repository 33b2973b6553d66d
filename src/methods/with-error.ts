/** Values with their errors, as text. */

/** A value with its error in its last two digits: 0.9973(49), 1.2346(12)e-9. */
export function withError(value: number, error: number): string {
  if (!Number.isFinite(value) || !Number.isFinite(error)) return `${value} ± ${error}`;
  if (error === 0) return `${value}(0)`;
  // the error is rounded to two digits first, because that can move its first digit: 0.996 becomes 1.0
  const rounded = Number(error.toPrecision(2));
  const place = Math.floor(Math.log10(rounded)) - 1; // the power of ten of the error's last digit
  const size = Math.max(Math.abs(value), rounded);
  const exponent = Math.floor(Math.log10(size + 0.5 * 10 ** place));
  const shown = exponent < -4 || exponent > 6 ? exponent : 0;
  if (shown < -307) return `${value} ± ${error}`; // 10^shown would be subnormal
  const decimals = Math.max(0, shown - place);
  const suffix = shown ? `e${shown}` : '';
  const [v, e] = [value / 10 ** shown, rounded / 10 ** shown];
  if (decimals > 20) return `${v}(${e})${suffix}`;
  const digits = e >= 1 ? e.toFixed(decimals) : `${Math.round(e * 10 ** decimals)}`;
  return `${v.toFixed(decimals)}(${digits})${suffix}`;
}
