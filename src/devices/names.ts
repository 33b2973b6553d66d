/** The kinds of devices that the option `device` can name, and how their names are read. */
interface DeviceKind {
  kind: string;
  /** What may stand behind the colon; null where the name has no colon. */
  suffix: RegExp | null;
  /** Whether it can be one of several in a list. */
  inLists: boolean;
  /** Names for messages. */
  examples: readonly string[];
  /** What it is, for help texts. */
  words: string;
}

export const DEVICES = [
  {
    kind: 'auto',
    suffix: null,
    inLists: false,
    examples: ["'auto'"],
    words: 'the CPU, or a CUDA device for budgets from 1e10 evaluations on',
  },
  {
    kind: 'cpu',
    suffix: /^[1-9]\d*$/,
    inLists: true,
    examples: ["'cpu'", "'cpu:3' for three workers"],
    words: 'every core; cpu:3 has three workers',
  },
  {
    kind: 'cuda',
    suffix: /^(\d+|\*)$/,
    inLists: true,
    examples: ["'cuda'", "'cuda:1'", "'cuda:*'"],
    words: 'the first CUDA device; cuda:1 is the second one, cuda:* all of them together',
  },
  {
    kind: 'js',
    suffix: /^[1-9]\d*$/,
    inLists: false,
    examples: ["'js'"],
    words: 'the function as it is, not compiled, on every core',
  },
] as const satisfies readonly DeviceKind[];

export interface DeviceName {
  kind: (typeof DEVICES)[number]['kind'];
  /** What stands behind the colon: the workers of a CPU, the number of a card, or `*`. */
  suffix: string | undefined;
  inLists: boolean;
}

/** A name in its parts; undefined when it names no device. */
export function readDeviceName(name: string): DeviceName | undefined {
  const [kind, suffix, more] = name.split(':');
  const known = DEVICES.find(d => d.kind === kind);
  if (!known || more !== undefined) return undefined;
  if (suffix !== undefined && !known.suffix?.test(suffix)) return undefined;
  return { kind: known.kind, suffix, inLists: known.inLists && suffix !== '*' };
}
