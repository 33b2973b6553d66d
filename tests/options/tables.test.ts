/**
 * An option is declared once. Every entry of every table appears in the flags, in the help, in the completion and in
 * docs/api.md, and what its entry does not allow is refused by an OptionError with option, value and remedy.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { OPTIONS, optionsFrom } from '../../src/cli/options.ts';
import { type IntegrateOptions, integrate, OptionError, scan } from '../../src/index.ts';
import { CUBATURE_OPTIONS } from '../../src/methods/cubature/options.ts';
import { FAMILIES } from '../../src/methods/names.ts';
import { VEGAS_OPTIONS } from '../../src/methods/vegas/options.ts';
import { ZMC_OPTIONS } from '../../src/methods/zmc/options.ts';
import { checkOptions, type Entry, type OptionTable, withDefaults } from '../../src/options/table.ts';
import { checkProblem, INTEGRATE_OPTIONS } from '../../src/problem.ts';
import { typed } from '../cli/typed.ts';

/** All entries by their full names, as `relTol` and `vegas.bins`. */
function entriesOf(table: OptionTable, prefix = ''): [string, Entry][] {
  return Object.entries(table).flatMap(([name, entry]) => [
    [prefix + name, entry] as [string, Entry],
    ...(entry.table ? entriesOf(entry.table, `${name}.`) : []),
  ]);
}
const entries = entriesOf(INTEGRATE_OPTIONS);
const untyped = [
  'domain',
  'breaks',
  'points',
  'params',
  'signal',
  'onProgress',
  'vegas',
  'cubature',
  'lattice',
  'zmc',
  'resume',
  'map',
  'histograms',
  'goals',
  'learnFrom',
];
const last = (option: string) => option.split('.').at(-1)!;

/** The rows of docs/api.md for the options of a table. */
function rowOf(option: string): string {
  const [family] = option.includes('.') ? option.split('.') : ['integrate'];
  const chapter = `### \`${family[0].toUpperCase()}${family.slice(1)}Options\``;
  const [, text] = readFileSync('docs/api.md', 'utf8').split(chapter);
  const row = text.split('\n### ')[0].match(new RegExp(`^\\| \`${last(option)}\\?\` .*$`, 'm'));
  return row?.[0] ?? expect.fail(`docs/api.md has no row for ${option}`);
}

/** What a value is refused with. */
function refusal(option: string, value: unknown): OptionError {
  const [name, member] = option.split('.');
  const rest = name === 'dims' ? {} : { dims: 2 };
  const options = { ...rest, [name]: member ? { [member]: value } : value };
  try {
    checkProblem(options as IntegrateOptions);
  } catch (e) {
    if (e instanceof OptionError) return e;
    throw e;
  }
  return expect.fail(`${option} may be ${value}`);
}

describe.each(entries)('%s', (option, entry) => {
  const flag = OPTIONS.find(o => o.sets === option);

  if (untyped.includes(option)) test('cannot be typed, and is no flag', () => expect(flag).toBeUndefined());
  else
    test('is a flag, with help and completion', async () => {
      expect(flag).toBeDefined();
      expect(flag!.help).not.toBe('');
      const { out } = await typed(['run', '--help']);
      expect(out).toContain(
        option.includes('.') ? flag!.name.split('.')[1] : `--${flag!.name} ${flag!.value}`,
      );
      for (const shell of ['bash', 'zsh'])
        expect((await typed(['completion', shell])).out).toContain(flag!.name);
    });
  test('is in docs/api.md with a sentence, and with its default value', () => {
    const [, , , words] = rowOf(option).replaceAll('\\|', '').split('|');
    expect(words.trim()).toMatch(/^[A-Z`±].*\.$/);
    if (typeof entry.default !== 'number' && typeof entry.default !== 'string') return;
    const [, shown] = /Default:? `?([^`:;]*?)`?[.:] *(?=[A-Z`]|$|the )/.exec(words) ?? expect.fail(words);
    const value = typeof entry.default === 'number' ? Number(shown.replaceAll(',', '')) : shown;
    expect(entry.default === Infinity ? shown : value).toBe(
      entry.default === Infinity ? 'no limit' : entry.default,
    );
  });

  const { least, above, most, kind } = entry;
  const numeric = ['number', 'whole', 'duration'].includes(kind);
  const wrong: unknown[] = [
    ...(least === undefined ? [] : [least - 1]),
    ...(above === undefined ? [] : [above]),
    ...(most === undefined ? [] : [most + 1]),
    ...(kind === 'whole' || kind === 'integer' ? [(least ?? 0) + 0.5] : []),
    ...(numeric && !entry.infinite ? [Infinity] : []),
    ...(numeric ? [Number.NaN, '8'] : []),
    ...(kind === 'integer' ? [Number.NaN, '8.5', '0x8', ''] : []),
    ...(kind === 'choice' ? ['none of these'] : []),
    ...(kind === 'boolean' ? ['true', 1] : []),
    ...(kind === 'device' ? ['gpu', [], ['cpu', 'js']] : []),
    ...(kind === 'family' ? [3] : []),
    null,
  ];
  if (kind !== 'other')
    test.each(wrong)('%o is refused', value => {
      const e = refusal(option, value);
      expect([e.option, e.value]).toEqual([option, value]);
      expect(e.remedy).not.toBe('');
      expect(e.message).toBe(`integrate: ${e.reason}; ${e.remedy}.`);
      expect(e.reason).toContain(`\`${option}\` is `);
      expect(e).toBeInstanceOf(TypeError);
    });
  if (numeric)
    test('its bounds are allowed', () => {
      for (const value of [least, most])
        if (value !== undefined) expect(() => checkOptions({ it: entry }, { it: value })).not.toThrow();
    });
});

describe('unknown members', () => {
  test.each([
    ['relTole', Object.keys(INTEGRATE_OPTIONS)],
    ['vegas.bin', Object.keys(VEGAS_OPTIONS)],
    ['cubature.rules', Object.keys(CUBATURE_OPTIONS)],
    ['zmc.block', Object.keys(ZMC_OPTIONS)],
  ])('%s: the remedy lists %j', (option, known) => {
    const e = refusal(option, 1);
    expect([e.option, e.value]).toEqual([option, undefined]);
    expect(e.reason).toBe(`unknown option \`${option}\``);
    expect(e.remedy).toContain(known.join(', '));
  });
});

describe('an entry more', () => {
  const table = {
    /** How much salt. */
    salt: { kind: 'whole', least: 1, most: 9, default: 3 },
  } as const satisfies OptionTable;
  test('is checked', () => {
    expect(() => checkOptions(table, { salt: 2 })).not.toThrow();
    expect(() => checkOptions(table, { salt: 0 })).toThrow(
      'integrate: `salt` is 0; pass a whole number from 1 on.',
    );
    expect(() => checkOptions(table, { salt: 10 })).toThrow('integrate: `salt` is 10; pass at most 9.');
    expect(() => checkOptions(table, { pepper: 1 })).toThrow(
      'integrate: unknown option `pepper`; the options are salt.',
    );
  });
  test('has its default', () => {
    expect(withDefaults(table, {})).toEqual({ salt: 3 });
    expect(withDefaults(table, { salt: undefined })).toEqual({ salt: 3 });
    expect(withDefaults(table, { salt: 0 })).toEqual({ salt: 0 });
  });
  test('is a flag', () => {
    expect([...optionsFrom(table, { salt: 'grains of salt' })]).toEqual([
      {
        name: 'salt',
        kind: 'whole',
        value: 'N',
        help: 'grains of salt (3)',
        commands: ['integrate', 'run', 'scan'],
        sets: 'salt',
      },
    ]);
  });
});

describe('who reports an error says it in its own words', () => {
  const bad = { dims: 1, relTol: -1 };
  test('integrate and scan begin with their name', async () => {
    await expect(integrate(([x]) => x, bad)).rejects.toThrow(/^integrate: `relTol` is -1; /);
    const e = await scan(([x]) => x, { ...bad, params: [] }).catch(e => e);
    expect(e).toBeInstanceOf(OptionError);
    expect([e.option, e.value]).toEqual(['relTol', -1]);
    expect(e.message).toBe(`scan: ${e.reason}; ${e.remedy}.`);
    expect(e.stack).toMatch(/^OptionError: scan: /);
  });
  test.each([
    [{ method: 'pagani', dims: 12, maxEvaluations: 1e4 }, 'maxEvaluations', 1e4],
    [{ method: 'cuhre', dims: 21 }, 'dims', 21],
    [{ method: 'pagani', dims: 3, cubature: { rule: 'degree13' } }, 'cubature.rule', 'degree13'],
    [{ method: 'pagani', dims: 9, cubature: { split: 16 } }, 'cubature.split', 16],
    [{ method: 'zmc', dims: 9, zmc: { blocks: 16 } }, 'maxEvaluations', 1e9],
  ])('%o: what a method finds is an OptionError as well', async (options, option, value) => {
    const e = await integrate((x: number[]) => x[0], options as IntegrateOptions).catch(e => e);
    expect(e).toBeInstanceOf(OptionError);
    expect([e.option, e.value]).toEqual([option, value]);
    expect(e.message).toBe(`integrate: ${e.reason}; ${e.remedy}.`);
  });
  test('an integral of a scan that failed keeps what was thrown', async () => {
    const [r] = await scan(([x], p) => Math.sqrt(x - p.a), { dims: 1, params: [{ a: 1 }] });
    expect(r.failure).toBeInstanceOf(RangeError);
    expect(r.warnings).toEqual([(r.failure as Error).message]);
  });
});

describe('devices', () => {
  const check = (device: unknown) => checkProblem({ dims: 1, device: device as string });
  test.each([
    ...['auto', 'cpu', 'cpu:3', 'js', 'js:2', 'cuda', 'cuda:1', 'cuda:*', 'webgpu'],
    ...[['cpu'], ['cuda:0'], ['cpu', 'cuda:0'], ['cuda:1', 'cpu:3', 'cuda']],
  ])('%o is allowed', device => {
    expect(check(device).device).toBe(device);
  });
  test.each([
    [['cpu', 'js'], "'js' cannot be in a list; pass it alone"],
    [['auto', 'cpu'], "'auto' cannot be in a list; pass it alone"],
    [
      ['cpu', 'webgpu'],
      "'webgpu' cannot be in a list: it is the one GPU that WebGPU finds, and the part of an integral that it computes in float32 would depend on how fast the others are; pass it alone",
    ],
    [['cuda', 'cuda:0'], 'name each device once'],
    [['cpu', 'cpu:3'], 'name each device once'],
    [['cuda:0', 'cuda:00'], 'name each device once'],
  ])('%o: %s', (device, remedy) => expect(refusal('device', device).remedy).toBe(remedy));
});

test('every method but auto has a family of options', () => {
  for (const [name, family] of Object.entries(FAMILIES))
    if (name !== 'auto') expect(INTEGRATE_OPTIONS).toHaveProperty(family!);
});
