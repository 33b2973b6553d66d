/**
 * Programs that come from elsewhere: those that the compiler made give the same bits after the journey; whatever else
 * arrives is refused with a `ProgramError`, or compiles, ends, and reads no memory but its own.
 */
import { transformSync } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { compile } from '../../src/integrand/compile.ts';
import { IntegrandError } from '../../src/integrand/diagnostics.ts';
import { MAX_TURNS } from '../../src/integrand/harden.ts';
import type { Program, Statement } from '../../src/integrand/ir.ts';
import { bind } from '../../src/integrand/params.ts';
import { toCuda } from '../../src/integrand/targets/cuda.ts';
import { javascriptTarget } from '../../src/integrand/targets/javascript.ts';
import { wasmTarget } from '../../src/integrand/targets/wasm.ts';
import { decodeProgram, encodeProgram, PROGRAM_LIMITS, ProgramError } from '../../src/integrand/verify.ts';
import { alteredBytes, alteredStructure } from '../fuzz/altered.ts';
import { judgeBytes } from '../fuzz/sent.ts';
import { catalogue } from '../integrands/catalogue.ts';
import { hard } from '../integrands/hard.ts';
import { columns, firstDifference, functionOf } from './compare.ts';
import { corpus, params as corpusParams, DIMS } from './corpus.ts';
import { generate } from './generate.ts';
import { Random } from './random.ts';
import { params, pointsFor } from './surroundings.ts';

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

const NUMBER = { type: 'f64' } as const;
/** f(x) = x[0] as a structure, for tests to change: value 0 is the constant 0, value 1 the coordinate, value 2 x[0] < 0. */
const small = (more: Partial<Record<keyof Program, unknown>> = {}, ...body: unknown[]) => ({
  version: 1,
  dims: 2,
  params: [{ name: 'a', kind: 'number' }],
  constants: { '#0': [1, 2] },
  arrays: [3],
  body: [
    { kind: 'let', id: 0, ...NUMBER, op: 'const', value: 0 },
    { kind: 'let', id: 1, ...NUMBER, op: 'coord', args: [0] },
    { kind: 'let', id: 2, type: 'bool', op: 'lt', args: [1, 0] },
    ...body,
  ],
  results: [1],
  ...more,
});
const value = (id: number, op: string, args: number[], more: object = {}) => ({
  kind: 'let',
  id,
  ...NUMBER,
  op,
  args,
  ...more,
});
const constant = (id: number, of: unknown) => ({ kind: 'let', id, ...NUMBER, op: 'const', value: of });

/** A program's value at (0.25, 0.5), the same by both targets. */
function resultOf(program: Program): number {
  const point = Float64Array.of(0.25, 0.5);
  const [wasm, javascript] = [wasmTarget, javascriptTarget].map(target => {
    const out = new Float64Array(1);
    target(program, new Map([['a', 2]]))(point, out);
    return out[0];
  });
  expect(Object.is(wasm, javascript), `wasm ${wasm}, javascript ${javascript}`).toBe(true);
  return wasm;
}

/** Points of the unit cube: at 1e10 some of the integrands would loop for minutes. */
const ordinary = (dims: number) => pointsFor(3, dims).slice(0, 19);

describe('a program that was sent gives the bits that it gave before', () => {
  const same = (program: Program, points: number[][], given: Parameters<typeof bind>[1]) => {
    const bindings = bind(program.params, given);
    const [before, after] = [program, decodeProgram(encodeProgram(program))].map(p => {
      const out = new Float64Array(points.length);
      wasmTarget(p, bindings)(columns(points), out);
      return out;
    });
    expect(firstDifference(before, after)).toBe(-1);
  };
  test.each([...catalogue, ...hard].map(e => [e.name, e] as const))(
    '%s',
    (_, { f, dims, params: given = {} }) => {
      same(compile(f, { dims, params: given }).program, ordinary(dims), given);
    },
  );
  test.each(Object.entries(corpus))('%s', (_, text) => {
    const { code } = transformSync(`f = ${text}`, { loader: 'ts' });
    const f = functionOf(code.replace(/^f = |;\s*$/g, ''));
    same(compile(f, { dims: DIMS, params: corpusParams }).program, ordinary(DIMS), corpusParams);
  });
  test('NaN, the infinities and −0 as constants', () => {
    for (const special of [NaN, Infinity, -Infinity, -0]) {
      const program = { ...(small({ results: [5] }, constant(5, 1)) as unknown as Program) };
      (program.body[3] as { value: number }).value = special;
      expect(resultOf(decodeProgram(encodeProgram(program)))).toBe(special);
    }
  });
});

describe('what is no program is refused, with its place', () => {
  const loop = (body: unknown[], more: object = {}) => ({
    kind: 'loop',
    label: 7,
    init: [],
    carried: [],
    body,
    out: [],
    ...more,
  });
  const leave = {
    kind: 'if',
    cond: 2,
    then: [{ kind: 'break', label: 7, args: [] }],
    else: [{ kind: 'yield', args: [] }],
    out: [],
  };
  const again = { kind: 'continue', args: [] };
  const refused: Record<string, [unknown, RegExp]> = {
    'another version': [small({ version: 2 }), /version 2/],
    'no object': [null, /an object/],
    'a member too many': [{ ...small(), more: 1 }, /a member/],
    'no coordinates': [small({ dims: 0 }), /from 1 to 1000.*dims/],
    'a value used before it is defined': [
      small({}, value(5, 'neg', [6]), constant(6, 1)),
      /value 6 .*body\[3\]/,
    ],
    'a value used outside its list': [
      small(
        { results: [8] },
        {
          kind: 'if',
          cond: 2,
          then: [constant(8, 1), { kind: 'yield', args: [] }],
          else: [{ kind: 'yield', args: [] }],
          out: [],
        },
      ),
      /value 8 .*results/,
    ],
    'a value defined twice': [small({}, constant(0, 1)), /defined twice/],
    'a bool as a number': [small({ results: [2] }), /value 2 is bool/],
    'a wrong number of operands': [small({}, value(5, 'add', [1])), /2 values are needed/],
    'an operation that is none': [small({}, value(5, 'constructor', [1])), /operation/],
    'a call of what is no function of the library': [
      small({}, value(5, 'call', [1], { fn: 'constructor' })),
      /library function/,
    ],
    'a call that is text': [
      small({}, value(5, 'call', [1], { fn: 'exp(0);process.exit();kit.exp' })),
      /library function/,
    ],
    'an id that is text': [small({}, constant('0;process.exit()' as never, 1)), /whole number/],
    'a param that is not declared': [
      small({}, { ...constant(5, 0), op: 'param', name: 'b', value: undefined }),
      /param/,
    ],
    'a param named __proto__': [small({ params: [{ name: '__proto__', kind: 'number' }] }), /name/],
    'constants under a name that is not theirs': [small({ constants: { constructor: [1] } }), /constants/],
    'an array of params that is not declared': [
      small({}, value(5, 'element', [0], { array: 'toString' })),
      /not declared/,
    ],
    'a local array that is not there': [small({}, value(5, 'load', [0], { array: 1 })), /from 0 to 0/],
    'a local array by the name of a property': [
      small({}, value(5, 'load', [0], { array: 'length' })),
      /whole number/,
    ],
    'a break to a label that is not around it': [
      small({}, loop([leave, { kind: 'break', label: 8, args: [] }])),
      /break to 8/,
    ],
    'a label used twice': [small({}, loop([leave, again]), loop([leave, again])), /used twice/],
    'a loop that nothing leaves': [small({}, loop([again])), /leaves a loop/],
    'a loop that only an inner break leaves': [
      small({}, loop([loop([{ kind: 'break', label: 9, args: [] }], { label: 9 }), again])),
      /leaves a loop/,
    ],
    'unreachable where the program may come': [
      small(
        {},
        {
          kind: 'if',
          cond: 2,
          then: [{ kind: 'unreachable' }],
          else: [{ kind: 'yield', args: [] }],
          out: [],
        },
      ),
      /unreachable/,
    ],
    'a list that does not end': [small({}, loop([leave])), /wrong place/],
    'an empty list': [small({}, loop([])), /does not end/],
    'local arrays too large together': [small({ arrays: [PROGRAM_LIMITS.elements, 1] }), /elements/],
    'params too large together': [
      small({ params: [0, 1].map(i => ({ name: `p${i}`, kind: 'array', length: PROGRAM_LIMITS.numbers })) }),
      /numbers/,
    ],
    'too many statements': [
      small({}, ...Array.from({ length: PROGRAM_LIMITS.statements }, (_, i) => constant(10 + i, 0))),
      /statements|items/,
    ],
  };
  test.each(Object.entries(refused))('%s', (_, [structure, message]) => {
    expect(() => decodeProgram(bytesOf(structure))).toThrow(ProgramError);
    expect(() => decodeProgram(bytesOf(structure))).toThrow(message);
  });
  test('bytes that are no JSON, no UTF-8, too many, or none', () => {
    for (const bytes of [
      Uint8Array.of(),
      Uint8Array.of(255, 254),
      bytesOf('x').subarray(1),
      new Uint8Array(PROGRAM_LIMITS.bytes + 1),
    ])
      expect(() => decodeProgram(bytes)).toThrow(ProgramError);
    expect(() => decodeProgram('{}' as never)).toThrow(ProgramError);
    expect(() => decodeProgram(new TextEncoder().encode('['.repeat(1e6)))).toThrow(ProgramError);
  });
  test('lists nested a level deeper than the limit', () => {
    const nest = (levels: number) => {
      let body: unknown[] = [{ kind: 'yield', args: [] }];
      for (let i = 1; i < levels; i++)
        body = [
          { kind: 'if', cond: 2, then: body, else: [{ kind: 'yield', args: [] }], out: [] },
          { kind: 'yield', args: [] },
        ];
      return bytesOf(small({}, ...body.slice(0, -1)));
    };
    expect(judgeBytes(nest(PROGRAM_LIMITS.nesting))).toEqual({ kind: 'runs' });
    expect(() => decodeProgram(nest(PROGRAM_LIMITS.nesting + 1))).toThrow(/nested/);
  });
});

describe('what a program may do is bounded', () => {
  test('an index outside its array, known when compiling, reads NaN and makes a store spoil the result', () => {
    for (const index of [3, -1, 1.5, 1e9, 'NaN', 'Infinity']) {
      const reads = [
        value(6, 'coord', [5]),
        value(6, 'load', [5], { array: 0 }),
        value(6, 'element', [5], { array: '#0' }),
      ];
      for (const read of reads)
        expect(resultOf(decodeProgram(bytesOf(small({ results: [6] }, constant(5, index), read))))).toBeNaN();
      const store = { kind: 'store', array: 0, index: 5, value: 1 };
      expect(resultOf(decodeProgram(bytesOf(small({}, constant(5, index), store))))).toBeNaN();
    }
  });
  test('an array that is read before it is written holds NaN, not what was computed before', () => {
    const program = decodeProgram(
      bytesOf(
        small({ results: [6] }, value(6, 'load', [0], { array: 0 }), {
          kind: 'store',
          array: 0,
          index: 0,
          value: 1,
        }),
      ),
    );
    for (const target of [wasmTarget, javascriptTarget]) {
      const out = new Float64Array(5);
      target(program, new Map([['a', 2]]))(new Float64Array(10).fill(0.5), out);
      expect([...out]).toEqual(Array(5).fill(NaN));
    }
  });
  test('a loop without an end is left after 2^22 turns, with NaN', () => {
    const never = {
      kind: 'if',
      cond: 2,
      then: [{ kind: 'break', label: 7, args: [] }],
      else: [{ kind: 'yield', args: [] }],
      out: [],
    };
    const inner = {
      kind: 'loop',
      label: 8,
      init: [],
      carried: [],
      body: [never, { kind: 'continue', args: [] }],
      out: [],
    };
    const outer = {
      kind: 'loop',
      label: 7,
      init: [],
      carried: [],
      body: [inner, { kind: 'continue', args: [] }],
      out: [],
    };
    expect(MAX_TURNS).toBe(2 ** 22);
    expect(resultOf(decodeProgram(bytesOf(small({}, outer))))).toBeNaN();
  });
  test('loops whose turns can be counted, and arrays that are written first, cost nothing more', () => {
    const { program } = compile(
      x => {
        const a = [1, 2, x[0]];
        for (let i = 0; i < 1000; i++) a[i % 3] += x[1] * i;
        return a[Math.floor(x[0])];
      },
      { dims: 2 },
    );
    const body = (p: Program): Statement[] => p.body;
    expect(body(decodeProgram(encodeProgram(program)))).toEqual(body(program));
  });
  test('programs as large as the limits allow compile, or are refused in words, within seconds', () => {
    const { statements, outputs } = PROGRAM_LIMITS;
    const chain = Array.from({ length: statements - 10 }, (_, i) =>
      value(10 + i, 'call', [i ? 9 + i : 1], { fn: 'exp' }),
    );
    const outs = (first: number) => Array.from({ length: outputs }, (_, k) => ({ id: first + k, ...NUMBER }));
    const wide = Array.from({ length: 60 }, (_, i) => ({
      kind: 'if',
      cond: 2,
      then: [{ kind: 'yield', args: Array(outputs).fill(i ? 1e5 + outputs * (i - 1) : 1) }],
      else: [{ kind: 'yield', args: Array(outputs).fill(1) }],
      out: outs(1e5 + outputs * i),
    }));
    const start = performance.now();
    for (const [body, results] of [
      [chain, [statements - 1]],
      [wide, [1e5 + outputs * 59]],
    ] as const) {
      const program = decodeProgram(bytesOf(small({ results }, ...body)));
      toCuda(program);
      try {
        wasmTarget(program, new Map([['a', 2]]));
      } catch (e) {
        expect(e).toBeInstanceOf(IntegrandError);
      }
    }
    expect(performance.now() - start).toBeLessThan(60_000);
  });
});

test('3000 altered programs are refused or run, and nothing else happens', () => {
  const counts = { refused: 0, runs: 0, fault: 0 };
  for (let seed = 0; seed < 60; seed++) {
    const { text, dims } = generate(seed, seed % 2 ? 'exact' : 'smooth');
    const { program } = compile(functionOf(text), { dims, params, target: 'javascript' });
    const r = new Random(seed);
    for (let k = 0; k < 50; k++) {
      const bytes = (k % 3 ? alteredStructure : alteredBytes)(program, r);
      const verdict = judgeBytes(bytes);
      counts[verdict.kind]++;
      if (verdict.kind === 'fault') expect.fail(`${verdict.why}\n${new TextDecoder().decode(bytes)}`);
    }
  }
  expect(counts.runs).toBeGreaterThan(100); // the changes reach what is behind the verifier
  expect(counts.refused).toBeGreaterThan(1000);
});
