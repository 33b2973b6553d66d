/** Messages and sizes, without a server. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  Frames,
  frameOf,
  framesOf,
  fromBytes,
  headOf,
  pack,
  toBytes,
  unpack,
  withHead,
} from '../../src/devices/cluster/packing.ts';
import { FRAME, MAX_JOB, PROTOCOL, queueOf, RELEASE, readJob } from '../../src/devices/cluster/protocol.ts';
import { PageHash } from '../../src/devices/cluster/sha256.ts';
import { cut, LONG_MS, SHORT_MS } from '../../src/devices/cluster/sizes.ts';
import { inOrder } from '../../src/tasks/part.ts';

test('the release is that of package.json, and the queue has it in its name', () => {
  expect(RELEASE).toBe(JSON.parse(readFileSync('package.json', 'utf8')).version);
  expect(queueOf('cpu')).toMatch(/^cpu-\d+-\d+-\d+_\d+_\d+$/);
});

describe('cut', () => {
  test.each([
    [1000, 65_536, 7, 1e4],
    [1, 65_536, 8, 1e4],
    [64, 4096, 200, 0],
    [1e5, 100, 3, 1e-3],
  ])(
    '%i groups of %i evaluations for %i workers: parts cover all, large ones first',
    (count, each, workers, rate) => {
      const whole = { first: 3, count };
      const parts = cut(whole, each, workers, rate);
      expect(
        inOrder(
          parts.map(part => ({ part })),
          whole,
        ),
      ).toHaveLength(parts.length);
      const sizes = parts.map(p => p.count);
      expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
    },
  );
  test('a part takes from 6 ms to 2 s where a worker does 1e4 evaluations per millisecond, but for the last', () => {
    const ms = cut({ first: 0, count: 1e5 }, 4096, 4, 1e4).map(p => (p.count * 4096) / 1e4);
    expect(Math.max(...ms)).toBeLessThanOrEqual(LONG_MS);
    expect(Math.min(...ms.slice(0, -1))).toBeGreaterThan(0.95 * SHORT_MS);
  });
});

test('a value is the same after a trip, its long lists are sent apart, and each once', async () => {
  const blobs = new Map<string, Uint8Array>();
  const put = (bytes: Uint8Array) => {
    blobs.set(`${bytes.length}`, bytes);
    return `${bytes.length}`;
  };
  const get = async (digest: string) => blobs.get(digest)!;
  const value = {
    edges: Float64Array.from({ length: 1000 }, (_, i) => 1 / i),
    short: Uint8Array.of(1, 2, 3),
    counts: { each: Uint32Array.from({ length: 500 }, (_, i) => i), evaluations: 1e9 },
    odd: [-0, Infinity, NaN],
  };
  const packed = pack(value, put);
  expect('text' in packed && packed.text.length < 500).toBe(true);
  expect(await unpack(packed, get)).toEqual(value);
  expect([...blobs.keys()]).toEqual(['8000', '1000']);
});

test('the samples of a million cubes are 1, 2 or 4 MB, by the largest of them', async () => {
  for (const [largest, bytes] of [
    [255, 1e6],
    [256, 2e6],
    [65_535, 2e6],
    [65_536, 4e6],
    [2 ** 32 - 1, 4e6],
  ]) {
    const each = new Uint32Array(1e6).fill(50);
    each[777_777] = largest;
    let blob = new Uint8Array(0);
    const packed = pack({ each }, own => {
      blob = Uint8Array.from(own);
      return 'digest';
    });
    expect(blob.length).toBe(bytes);
    for (const found of [await unpack(packed, async () => blob), fromBytes(toBytes({ each }))]) {
      const { each: own } = found as { each: Uint32Array };
      expect(own).toBeInstanceOf(Uint32Array);
      const bytesOf = (l: Uint32Array) => Buffer.from(l.buffer, l.byteOffset, l.byteLength);
      expect(Buffer.compare(bytesOf(own), bytesOf(each))).toBe(0); // toEqual takes minutes
    }
  }
});

test('lists of any length are read from wherever a message lies, and half a number is refused', () => {
  const value = {
    numbers: Float64Array.from({ length: 100 }, (_, i) => 1 / i),
    words: Uint32Array.from({ length: 101 }, (_, i) => i * 1e7),
    bytes: Uint8Array.from({ length: 303 }, (_, i) => i),
    last: Float64Array.from({ length: 50 }, (_, i) => -i),
  };
  const message = toBytes(value);
  for (let shift = 0; shift < 9; shift++) {
    const moved = new Uint8Array(message.length + shift).subarray(shift);
    moved.set(message);
    expect(fromBytes(moved)).toEqual(value);
  }
  const broken = Buffer.from(message).toString('latin1').replace('[800,', '[799,');
  expect(() => fromBytes(Buffer.from(broken, 'latin1'))).toThrow(/half a number/);
});

test.each([
  ['Uint32Array', 'Float64Array'],
  ['Float64Array', 'Uint8Array'],
  ['Uint32Array', 'constructor'],
])('a list %s sent as %s is refused', async ($list, as) => {
  const text = JSON.stringify({ list: { $list, as, digest: 'd' } });
  await expect(unpack({ text }, async () => new Uint8Array(8))).rejects.toThrow(/an unknown list/);
});

test('pages make the digests that Node makes', () => {
  for (const length of [0, 1, 55, 56, 63, 64, 65, 119, 120, 1000, FRAME + 3]) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 2654435761) >>> 13);
    const own = new PageHash()
      .update('ü')
      .update(bytes.subarray(0, 7))
      .update(bytes.subarray(7))
      .digest('hex');
    expect(own).toBe(createHash('sha256').update('ü').update(bytes).digest('hex'));
  }
});

test('frames come in any order and twice; bytes of any length survive', () => {
  for (const length of [0, 1, FRAME, FRAME + 1, 3 * FRAME - 7]) {
    const bytes = Uint8Array.from({ length }, (_, i) => i * 31);
    const frames = new Frames(framesOf(bytes));
    let whole = false;
    for (let i = framesOf(bytes) - 1; i >= 0; i--) {
      const { head, bytes: own } = headOf(withHead({ i }, frameOf(bytes, i)));
      expect(JSON.parse(head)).toEqual({ i });
      frames.add(i, own);
      whole = frames.add(i, own);
    }
    expect(whole).toBe(true);
    expect(Buffer.compare(frames.bytes, bytes)).toBe(0);
  }
});

test('a job of more than 4 KB, of another protocol or without its members is none', () => {
  const job = {
    ...{
      protocol: PROTOCOL,
      run: 'abc',
      task: 0,
      part: 0,
      what: 'sample',
      first: 0,
      count: 1,
      program: '0'.repeat(64),
    },
    ...{ params: { text: '[]' }, body: { text: '{}' } },
  };
  expect(readJob(JSON.stringify(job))).toEqual(job);
  expect(() => readJob(JSON.stringify({ ...job, body: { text: 'x'.repeat(MAX_JOB) } }))).toThrow(
    /characters/,
  );
  expect(() => readJob(JSON.stringify({ ...job, protocol: 1 }))).toThrow(/protocol 1/);
  for (const name of Object.keys(job))
    expect(() => readJob(JSON.stringify({ ...job, [name]: undefined })), name).toThrow();
});
