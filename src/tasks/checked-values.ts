/** Single values of messages from other machines: each has the type and the size that its reader needs, or a TaskError is thrown. */

/** A task, or sums, that no device of this release makes or takes. */
export class TaskError extends Error {
  override readonly name = 'TaskError';
}

export type Members = Record<string, unknown>;

export function need(condition: boolean, what: string): asserts condition {
  if (!condition) throw new TaskError(`the task, or its sums, cannot be used: ${what}`);
}

export function members(value: unknown, what: string): Members {
  need(typeof value === 'object' && value !== null && !Array.isArray(value), `${what} is no object`);
  return value as Members;
}

export function list(value: unknown, what: string): unknown[] {
  need(Array.isArray(value) && value.length <= 2000, `${what} is no list`);
  return Array.from(value as unknown[]);
}

export function number(value: unknown, what: string): number {
  need(typeof value === 'number', `${what} is no number`);
  return value as number;
}

export function finite(value: unknown, what: string): number {
  need(Number.isFinite(value), `${what} is no finite number`);
  return value as number;
}

export function positive(value: unknown, what: string): number {
  need(Number.isFinite(value) && (value as number) >= 0, `${what} is no number from 0 on`);
  return value as number;
}

export function whole(value: unknown, what: string, least: number, most: number): number {
  need(
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most,
    `${what} is no whole number from ${least} to ${most}`,
  );
  return value as number;
}

export const word = (value: unknown, what: string): number => whole(value, what, 0, 2 ** 32 - 1);

export function flag(value: unknown, what: string): boolean {
  need(typeof value === 'boolean', `${what} is no boolean`);
  return value as boolean;
}

export function anyFloats(value: unknown, what: string): Float64Array {
  need(value instanceof Float64Array, `${what} is no list of numbers`);
  return value as Float64Array;
}

export function floats(value: unknown, what: string, length: number): Float64Array {
  const own = anyFloats(value, what);
  need(own.length === length, `${what} has ${own.length} numbers, not ${length}`);
  return own;
}

export function bytes(value: unknown, what: string, length: number): Uint8Array {
  need(value instanceof Uint8Array && value.length === length, `${what} is no list of ${length} bytes`);
  return value as Uint8Array;
}
