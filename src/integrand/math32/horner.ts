/** c₀ + x·(c₁ + x·(…)) as WGSL text; `x` is the name of a variable. */
export function horner(x: string, coefficients: readonly number[]): string {
  const [first, ...rest] = coefficients;
  const term = number(first);
  return rest.length === 0 ? term : `(${term} + ${x} * ${horner(x, rest)})`;
}

const number = (value: number) => {
  const text = String(value);
  return `${/[.e]/.test(text) ? text : `${text}.0`}f`;
};
