/** Examples run as a user runs them, and the numbers they print. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** What `node scripts/run.mjs FILE` prints, in lines; throws unless it ends with 0. */
export async function run(file: string): Promise<string[]> {
  const env = { ...process.env, NO_COLOR: '1' };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['scripts/run.mjs', file], { env });
  if (withoutDawn(stderr) !== '') throw new Error(`${file} writes to stderr:\n${stderr}`);
  return stdout.split('\n');
}

export interface Measured {
  value: number;
  error: number;
  /** What follows it on its line, in words. */
  rest: string[];
}

/** The values with errors on a line: 0.9973(49), 1.2(1.1)e-9, 0.9973 ± 0.0049. */
export function measured(line: string): Measured[] {
  const notation = /(-?\d+(?:\.(\d+))?)(?:\((\d+(?:\.\d+)?)\)(e[+-]?\d+)?| ± (\d+\.\d+))/g;
  return [...line.matchAll(notation)].map(m => {
    const [all, number, decimals = '', digits, exponent = '', error] = m;
    const last = digits?.includes('.') ? 0 : decimals.length;
    return {
      value: Number(number + exponent),
      error: Number(error ?? (Number(digits) / 10 ** last) * Number(`1${exponent}`)),
      rest: line
        .slice(m.index + all.length)
        .trim()
        .split(/\s+/),
    };
  });
}

/** Without what Dawn writes where it finds no Vulkan: examples/devices.ts looks for every device. */
const withoutDawn = (text: string): string =>
  text.replaceAll(
    /Warning: .*Vulkan.*\n( {4}at .*\n)?\n?|Warning: vkCreateInstance.*\n( {4}at .*\n)?\n?/g,
    '',
  );
