/** Structs that host and kernels share: their C text, and that a C compiler puts members where the host writes them. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type MemberValue, Struct } from '../../src/devices/cuda/struct.ts';
import * as structs from '../../src/devices/cuda/structs.ts';

/** Those that others contain come first. */
const ALL: readonly Struct<string>[] = [
  structs.SAMPLE_RESULT,
  structs.SAMPLE_TASK,
  structs.SEVERAL_TASK,
  structs.LATTICE,
  structs.LATTICE_TASK,
  structs.SEVERAL_LATTICE_TASK,
  structs.ALLOCATE,
  structs.FOLD,
  structs.HEAVY_RESULT,
  structs.HEAVY,
  structs.REFINE,
  structs.REGION_TASK,
  structs.FOUND,
  structs.POOL,
  structs.IMAGES,
  structs.WITNESS,
];

const noCompiler = spawnSync('g++', ['--version']).status !== 0;
if (noCompiler) console.warn('structs are not compiled: this machine lacks g++');

interface Member {
  type: string;
  name: string;
  /** The length of a list, as C has it. */
  length: string | undefined;
}

function membersOf({ text }: Struct<string>): Member[] {
  return [...text.matchAll(/^ {2}(.+?) (\w+)(?:\[(\w+)\])?;$/gm)].map(([, type, name, length]) => ({
    type,
    name,
    length,
  }));
}

/** Places and sizes as g++ has them: lines of `struct member offset size`, and `struct sizeof 0 size`. */
function compiled(dims: number): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'structs-'));
  const line = (struct: string, member: string, offset: string, size: string) =>
    `  printf("${struct} ${member} %zu %zu\\n", (size_t)(${offset}), sizeof(${size}));`;
  const lines = ALL.flatMap(struct => [
    ...membersOf(struct).map(({ name }) =>
      line(struct.name, name, `offsetof(${struct.name}, ${name})`, `${struct.name}::${name}`),
    ),
    line(struct.name, 'sizeof', '0', struct.name),
  ]);
  const program = [
    '#include <cstddef>\n#include <cstdio>',
    `#define DIMS ${dims}`,
    'typedef unsigned int u32;\ntypedef unsigned long long u64;',
    ...ALL.map(s => s.text),
    `int main() {\n${lines.join('\n')}\n}`,
  ];
  try {
    writeFileSync(join(folder, 'structs.cpp'), program.join('\n'));
    execFileSync('g++', ['-std=c++17', '-o', 'structs', 'structs.cpp'], { cwd: folder });
    return execFileSync(join(folder, 'structs'), { encoding: 'utf8' }).trim().split('\n');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A value whose last byte is not 0. */
function fullValue({ type, length }: Member, dims: number): MemberValue {
  const nested = ALL.find(s => s.name === type);
  if (nested) return new Uint8Array(nested.layout(dims).size).fill(255);
  const one = type === 'double' ? -Math.PI : type === 'int' ? -1 : type === 'u32' ? 2 ** 32 - 1 : 2 ** 63;
  return length ? Array(length === 'DIMS' ? dims : Number(length)).fill(one) : one;
}

/** The same lines by what the host packs: a member ends with the last byte that a value of it has. */
function packed(dims: number): string[] {
  return ALL.flatMap(struct => {
    const layout = struct.layout(dims);
    const lines = membersOf(struct).map(member => {
      const at = layout.offset(member.name);
      const bytes = layout.pack({ [member.name]: fullValue(member, dims) });
      return `${struct.name} ${member.name} ${at} ${bytes.findLastIndex(b => b !== 0) + 1 - at}`;
    });
    return [...lines, `${struct.name} sizeof 0 ${layout.size}`];
  });
}

test('every struct and every member is tested here', () => {
  expect(new Set(ALL)).toEqual(new Set(Object.values(structs).filter(s => s instanceof Struct)));
  for (const struct of ALL) expect(membersOf(struct)).toHaveLength(struct.text.split(';').length - 2);
});

test.skipIf(noCompiler).each([1, 3, 10])(
  'in %i dimensions g++ has every member where the host writes it, and as large',
  dims => {
    expect(packed(dims)).toEqual(compiled(dims));
  },
);

test('what is packed can be read again, and set anew', () => {
  const layout = structs.FOUND.layout(3);
  const bytes = layout.pack({ value: -1.5, wrong: 2 ** 52 + 1, first: 7 });
  layout.set(bytes, { first: 2 ** 40 });
  const all = layout.unpack(bytes);
  const read = [all.value, all.wrong, all.first, all.error];
  expect(read).toEqual([-1.5, 2 ** 52 + 1, 2 ** 40, 0]);
});

describe('C text', () => {
  test('SAMPLE_RESULT', () => {
    expect(structs.SAMPLE_RESULT.text).toMatchInlineSnapshot(`
      "struct SampleResult {
        double integral;
        double variance;
        double increments;
        double concentration;
        u64 wrong;
        u64 first;
        u64 evaluations;
        u64 blocks;
        u64 taken;
      };
      "
    `);
  });
  test('SAMPLE_TASK', () => {
    expect(structs.SAMPLE_TASK.text).toMatchInlineSnapshot(`
      "struct SampleTask {
        double scales[DIMS];
        u32 strata[DIMS];
        u32 inverses[DIMS];
        u32 keys[20];
        u32 iteration;
        u32 stream;
        u32 bins;
        u32 cubes;
        u32 count;
        u32 pieces;
        u32 team;
        u32 groupBits;
        u32 leafBits;
        u32 firstLeaf;
        u32 leaves;
        u64 samples;
        const u64* totals;
        double volume;
        double scale;
        u32 limit;
        u32 blockBits;
        const double* edges;
        const double* params;
        const u32* counts;
        const u32* firstPiece;
        const double* firstSample;
        const u32* groupStarts;
        double* sums;
        double* means;
        double* variances;
        SampleResult* result;
        u64* histogram;
        SampleResult* report;
      };
      "
    `);
  });
  test('ALLOCATE', () => {
    expect(structs.ALLOCATE.text).toMatchInlineSnapshot(`
      "struct Allocate {
        u32 cubes;
        u32 least;
        double rest;
        const double* variances;
        const double* params;
        u64* largest;
        double* shares;
        double* groups;
        double* total;
        u32* counts;
        u32* firstPiece;
        double* firstSample;
        u64* blocks;
        u64* totals;
        u32* groupStarts;
        u32 groupBits;
        u32 groupCount;
      };
      "
    `);
  });
  test('FOLD', () => {
    expect(structs.FOLD.text).toMatchInlineSnapshot(`
      "struct Fold {
        const double* pieces;
        double* cubes;
        const u32* counts;
        const u32* firstPiece;
        const double* firstSample;
        u32 count;
        u32 each;
        u32 n;
        u32 groupBits;
      };
      "
    `);
  });
  test('REFINE', () => {
    expect(structs.REFINE.text).toMatchInlineSnapshot(`
      "struct Refine {
        u32 bins;
        u32 axes;
        u32 shared;
        u32 root;
        double floor;
        u64* histogram;
        const double* edges;
        const double* params;
        double* refined;
        double* scratch;
      };
      "
    `);
  });
  test('REGION_TASK', () => {
    expect(structs.REGION_TASK.text).toMatchInlineSnapshot(`
      "struct RegionTask {
        double low[DIMS];
        double high[DIMS];
        double innerLow[DIMS];
        double innerHigh[DIMS];
        double mantissa;
        double ratio;
        double coefficients[3];
        int exponent;
        int graded;
        u32 points;
        u32 count;
        const double* places;
        const u32* words;
        const u32* ends;
        const double* weights;
        u64 room;
        const double* pairs;
        const double* centres;
        const unsigned char* levels;
        const double* params;
        double* values;
        double* errors;
        unsigned char* axes;
        u64* wrong;
      };
      "
    `);
  });
  test('FOUND', () => {
    expect(structs.FOUND.text).toMatchInlineSnapshot(`
      "struct Found {
        double value;
        double error;
        double absolute;
        double stuck;
        double before;
        double after;
        u64 wrong;
        u64 first;
        u64 stuckCount;
        u64 positive;
        u64 negative;
        u64 wanted;
        double threshold;
        u64 ended;
        double finished;
        double finishedValue;
        double finishedError;
        double finishedAbsolute;
        double leastError;
        double largestError;
      };
      "
    `);
  });
  test('POOL', () => {
    expect(structs.POOL.text).toMatchInlineSnapshot(`
      "struct Pool {
        RegionTask t;
        u64 count;
        u64 n;
        u64 nodes;
        u64 roots;
        u32 rootLevel;
        u32 purpose;
        double threshold;
        double unit;
        double weight;
        double relative;
        double below;
        u32 thin;
        Found* found;
        unsigned char* flags;
        unsigned short* depths;
        u32* nodeOf;
        u64* tree;
        u32* buckets;
        u32* survey;
        u32* list;
        u64* blocks;
        double* parentValues;
        double* parentErrors;
        double* sums;
        u64* best;
        u64* around;
        u64* face;
        Found* report;
      };
      "
    `);
  });
  test('IMAGES', () => {
    expect(structs.IMAGES.text).toMatchInlineSnapshot(`
      "struct Images {
        u64 count;
        double* centres;
        unsigned char* levels;
        const double* values;
        u32 looks;
        u32 thin;
      };
      "
    `);
  });
});
