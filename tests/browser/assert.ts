/** What the device suite uses of node:assert/strict, for a page. */
const shown = (x: unknown): string =>
  ArrayBuffer.isView(x) ? `[${x}]`.slice(0, 200) : (JSON.stringify(x) ?? String(x)).slice(0, 200);

function fail(message: string): never {
  throw new Error(message);
}

function same(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || !a || !b) return false;
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  const [own, other] = [Object.keys(a), Object.keys(b)];
  return (
    own.length === other.length &&
    own.every(key => Object.hasOwn(b, key) && same(a[key as never], b[key as never]))
  );
}

export default {
  ok(value: unknown, message = 'not ok'): void {
    if (!value) fail(message);
  },
  equal(a: unknown, b: unknown, message = ''): void {
    if (!Object.is(a, b)) fail(`${message} ${shown(a)} is not ${shown(b)}`);
  },
  deepEqual(a: unknown, b: unknown, message = ''): void {
    if (!same(a, b)) fail(`${message} ${shown(a)} is not ${shown(b)}`);
  },
  async rejects(work: Promise<unknown>, expected: (error: unknown) => boolean): Promise<void> {
    const found = await work.then(
      () => fail('no rejection'),
      error => ({ error }),
    );
    if (!expected(found.error)) fail(`rejected with ${found.error}`);
  },
};
