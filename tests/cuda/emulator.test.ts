/** The emulator itself: what kernels, barriers, atomics and the driver's calls do, as measured on a card or as CUDA says. */
import { beforeAll, describe, expect, test } from 'vitest';
import { absent } from './emulated.ts';
import { call, given, Raw } from './raw.ts';

let card: Raw;
/** A fault makes a card useless to the rest of the process: there is one for each. */
let used = 0;
beforeAll(() => {
  process.env.QUADRILLE_EMULATOR_DEVICES = '16';
  if (!absent) card = new Raw(0);
});

const kernel = (type: string, body: string, before = '') =>
  `${before}\nextern "C" __global__ void k(${type}* out) { const unsigned i = threadIdx.x; ${body} }`;
const range = (n: number, at: (i: number) => number) => Array.from({ length: n }, (_, i) => at(i));

describe.skipIf(absent)('warps', () => {
  test.each([
    ['int', Int32Array, -7],
    ['unsigned', Uint32Array, 7],
    ['float', Float32Array, 0.5],
    ['double', Float64Array, 2 ** -1000],
  ])('shuffles of %s', (type, List, scale) => {
    const lane = (i: number) => i % 32;
    const wanted: [string, (i: number) => number][] = [
      ['__shfl_sync(~0u, v, 5)', i => i - lane(i) + 5],
      ['__shfl_down_sync(~0u, v, 3)', i => i + (lane(i) < 29 ? 3 : 0)],
      ['__shfl_up_sync(~0u, v, 3)', i => i - (lane(i) >= 3 ? 3 : 0)],
      ['__shfl_xor_sync(~0u, v, 9)', i => i ^ 9],
      ['__shfl_down_sync(~0u, v, 3, 8)', i => i + (i % 8 < 5 ? 3 : 0)],
      ['__shfl_sync(~0u, v, 9, 8)', i => i - (i % 8) + 1],
    ];
    const lines = wanted.map(([op], k) => `out[${64 * k} + i] = ${op};`).join('\n');
    const body = `const ${type} v = (${type})(${scale} * (${type})i);\n${lines}`;
    const out = card.run(kernel(type, body), new List(64 * wanted.length), { threads: 64 });
    wanted.forEach(([op, from], k) => {
      const own = Array.from(out.subarray(64 * k, 64 * k + 64), v => v / scale + 0);
      expect(own, op).toEqual(range(64, from));
    });
  });
  test('votes, of parts of a warp too', () => {
    const body = `
      if (i < 8) out[i] = __ballot_sync(0xff, i % 2);
      else out[i] = __any_sync(0xffffff00, i == 9) + 10 * __all_sync(0xffffff00, i > 9) + 100 * __all_sync(0xffffff00, i > 7);`;
    const out = card.run(kernel('unsigned', body), new Uint32Array(32));
    expect([...out]).toEqual(range(32, i => (i < 8 ? 0xaa : 101)));
  });
  test('a thread that returned is not waited for', () => {
    const body =
      'if (i > 2) return; out[i] = __shfl_xor_sync(~0u, i, 1) + 10 * __popc(__ballot_sync(~0u, 1));';
    // thread 2 asks thread 3, which is gone: undefined
    const out = card.run(kernel('unsigned', body), new Uint32Array(4), { threads: 4 });
    expect([...out.subarray(0, 2)]).toEqual([31, 30]);
  });
});

describe.skipIf(absent)('blocks', () => {
  test('a barrier shows each thread what the others wrote', () => {
    const body = `
      __shared__ unsigned list[96];
      list[i] = i + 100 * blockIdx.x;
      __syncthreads();
      out[96 * blockIdx.x + i] = list[95 - i];`;
    const out = card.run(kernel('unsigned', body), new Uint32Array(288), { blocks: 3, threads: 96 });
    expect([...out]).toEqual(range(288, i => 95 - (i % 96) + 100 * Math.floor(i / 96)));
  });
  test('threads that returned count as arrived; barriers count, and, or', () => {
    const body = `
      if (i >= 50) return;
      out[i] = __syncthreads_count(i < 20) + 100 * __syncthreads_or(i == 3) + 1000 * __syncthreads_and(i < 49);`;
    const out = card.run(kernel('int', body), new Int32Array(50), { threads: 64 });
    expect([...out]).toEqual(range(50, () => 120));
  });
  test('dynamic shared memory, beside __shared__ variables', () => {
    const body = `
      extern __shared__ double own[];
      __shared__ double sum;
      own[i] = i;
      __syncthreads();
      if (i == 0) { sum = 0; for (unsigned j = 0; j < blockDim.x; j++) sum += own[j]; }
      __syncthreads();
      out[i] = sum;`;
    const out = card.run(kernel('double', body), new Float64Array(1024), { threads: 1024, shared: 8192 });
    expect([...out]).toEqual(range(1024, () => 523776));
  });
  test('shared memory does not start as zeros, nor does that of the card', () => {
    const body =
      '__shared__ double own[4]; extern __shared__ double more[]; out[i] = i < 4 ? own[i] : more[i - 4];';
    const out = card.run(kernel('double', body), new Float64Array(8), { threads: 8, shared: 32 });
    expect([...out].every(Number.isNaN)).toBe(true);
    const address = card.take(64);
    card.driver.cuMemcpyDtoH(out, address, 64);
    expect([...out].every(Number.isNaN)).toBe(true);
  });
  test('a spinning thread that sleeps lets the others go on', () => {
    const body = `
      __shared__ volatile unsigned flag;
      if (i == 1) flag = 0;
      __syncthreads();
      if (i == 0) { while (!flag) __nanosleep(100); out[0] = flag; }
      if (i == 40) flag = 7;`;
    expect(card.run(kernel('unsigned', body), new Uint32Array(1), { threads: 64 })[0]).toBe(7);
  });
});

describe.skipIf(absent)('functions', () => {
  test('atomics', () => {
    const body = `
      atomicAdd(out, 1ull << 33); atomicMax(out + 1, (unsigned long long)i); atomicMin(out + 2, (unsigned long long)i);
      atomicOr((unsigned*)(out + 3), 1u << i % 32); atomicAdd((double*)(out + 4), 0.5);
      atomicAdd_system((int*)(out + 5), -1); atomicCAS((unsigned*)(out + 6), i, i + 1); atomicExch((unsigned*)(out + 7), 9u);`;
    const out = BigUint64Array.of(0n, 0n, 99n, 0n, 0n, 0n, 0n, 0n);
    card.run(kernel('unsigned long long', body), out, { blocks: 2, threads: 64 });
    const view = new DataView(out.buffer);
    expect([...out.subarray(0, 4)]).toEqual([2n ** 40n, 63n, 0n, 0xffffffffn]);
    expect(view.getFloat64(32, true)).toBe(64);
    expect(view.getInt32(40, true)).toBe(-128);
    expect([...out.subarray(6)]).toEqual([64n, 9n]);
  });
  test('integers, conversions, arithmetic', () => {
    const wanted: [string, number][] = [
      ['__umulhi(0xffffffffu, 0x80000001u)', 0x80000000],
      ['__mul64hi(-(1ll << 62), 8)', -2],
      ['__popc(0xf0f0u) + 100 * __clz(1) + 10000 * __ffs(8)', 43108],
      ['__double2int_rn(-3.5) + (int)__double2ull_rn(2.5) + (int)__double2uint_rn(-1.0)', -2],
      ['__double2int_rn(1e300) - 2147483640.0', 7],
      ['__hiloint2double(__double2hiint(1.5), __double2loint(1.5))', 1.5],
      ['__fma_rn(134217729.0, 134217727.0, -18014398509481984.0)', -1],
      ['__dadd_rn(__dmul_rn(134217729.0, 134217727.0), -18014398509481984.0)', 0],
      ['min(3u, 2u) + max(1.5, 2) + min(-1ll, 5)', 3],
      ['sinpi(0.5) + cospi(1.0) + rsqrt(4.0) + sinpi(-2.0)', 0.5],
    ];
    const body = wanted.map(([op], k) => `out[${k}] = ${op};`).join('\n');
    const out = card.run(kernel('double', body), new Float64Array(wanted.length), { threads: 1 });
    wanted.forEach(([op, want], k) => {
      expect(out[k], op).toBe(want);
    });
  });
  test('erfinv is within 3e-16 of what erf makes of it', () => {
    const body = 'const double x = (i - 511.5) / 512; out[i] = erf(erfinv(x)) - x;';
    const off = card.run(kernel('double', body), new Float64Array(1024), { threads: 1024 });
    expect(Math.max(...off.map(Math.abs))).toBeLessThan(3e-16);
  });
  test('what CUDA does not have does not compile; the log has the line', () => {
    expect(() => card.module('\n\nthis is no C++')).toThrow(/integrand\.cu:3/);
    expect(() => card.module(kernel('long long', 'atomicAdd(out, 1ll);'))).toThrow(
      /no atomicAdd for this type/,
    );
    expect(() => card.module(kernel('char', 'out[i] = __shfl_sync(~0u, out[i], 1);'))).toThrow(/no __shfl/);
  });
});

describe.skipIf(absent)('faults end a launch, and the use of the card by this process', () => {
  const recursion =
    '__device__ __noinline__ double deeper(double* p, double x) { volatile double y = x; return y + deeper(p, y) + p[0]; }';
  test.each([
    ['__trap', '__trap();', 719],
    ['trap in PTX', 'asm volatile("trap;");', 719],
    ['a null pointer', '*(double*)0 = 1;', 700],
    ['one element past the end of a buffer', 'out[32 + i] = 1;', 700],
    ['an element past the end of shared memory', 'extern __shared__ double s[]; out[i] = s[i];', 700],
    ['a barrier that some threads never reach', 'if (i == 3) __syncwarp(); else __syncthreads();', 719],
    ['a warp operation of a thread outside its mask', '__syncwarp(1);', 719],
    ['integer division by 0, which a card lets pass', 'out[i] = 7 / (i - i);', 719],
    ['endless recursion', 'out[i] = deeper(out, i);', 700],
  ])('%s', (_, body, status) => {
    const own = new Raw(++used);
    const { driver } = own;
    const fails = () => own.run(kernel('double', body, recursion), new Float64Array(32));
    expect(fails).toThrow(expect.objectContaining({ status }));
    expect(driver.cuMemAlloc([0], 8)).toBe(status);
    expect(driver.cuStreamQuery(0)).toBe(status);
    // a reset succeeds, but the context cannot be opened again: only a new process can use the card
    expect(driver.cuDevicePrimaryCtxReset(used)).toBe(0);
    expect(driver.cuStreamQuery(0)).toBe(709);
    expect(driver.cuDevicePrimaryCtxRetain([0], used)).toBe(status);
    card.use();
    expect(card.run(kernel('double', 'out[i] = i;'), new Float64Array(2), { threads: 2 })[1]).toBe(1);
  });
  test('a deadlock says where, and who waits', () => {
    const own = new Raw(++used);
    const source = kernel('double', 'if (i < 5) __syncthreads(); else __ballot_sync(~0u, 1);');
    expect(() => own.run(source, new Float64Array(1))).toThrow(
      /deadlock: 5 threads wait at __syncthreads, 27 at operations of their warps, such as thread 31 \(k, block 0/,
    );
    card.use();
  });
});

describe.skipIf(absent)('the driver', () => {
  const SLEEPY = kernel('unsigned', 'out[i] = 5;').replace(' k(', ' sleepy(');
  /** Launches a kernel that takes so many milliseconds. */
  function sleep(address: number, milliseconds: number): void {
    const module = card.module(SLEEPY);
    process.env.QUADRILLE_EMULATOR_SLOW = `sleepy=${milliseconds}`;
    expect(card.launch(module, 'sleepy', address, 1, 1)).toBe(0);
    delete process.env.QUADRILLE_EMULATOR_SLOW;
  }
  test('work is done in its order, behind the back of the caller', () => {
    const { driver } = card;
    const address = card.take(4);
    const word = new Uint32Array(1);
    sleep(address, 0);
    driver.cuMemcpyDtoH(word, address, 4);
    expect(driver.cuStreamQuery(0)).toBe(0);
    const start = performance.now();
    sleep(address, 1000);
    expect(driver.cuStreamQuery(0)).toBe(600);
    expect(performance.now() - start).toBeLessThan(900);
    expect(driver.cuMemcpyDtoH(word, address, 4)).toBe(0);
    expect(word[0]).toBe(5);
    expect(performance.now() - start).toBeGreaterThan(990);
    expect(driver.cuStreamQuery(0)).toBe(0);
  });
  test('a copy out of pinned memory takes what is there when its turn comes; events tell when', () => {
    const { driver } = card;
    const host = given(call('int cuMemHostAlloc(_Out_ uint64_t *p, size_t bytes, uint32_t flags)'), 4, 2);
    const address = given(
      call('int cuMemHostGetDevicePointer_v2(_Out_ uint64_t *a, uint64_t p, uint32_t f)'),
      host,
      0,
    );
    const event = given(call('int cuEventCreate(_Out_ uint64_t *event, uint32_t flags)'), 0);
    const stream = given(call('int cuStreamCreate(_Out_ uint64_t *stream, uint32_t flags)'), 0);
    const query = call('int cuEventQuery(uint64_t event)');
    sleep(address, 100);
    const [to, word] = [card.take(4), new Uint32Array(1)];
    const copy = call('int cuMemcpyHtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, uint64_t stream)');
    expect(copy(to, host, 4, stream)).toBe(0);
    expect(call('int cuEventRecord(uint64_t event, uint64_t stream)')(event, stream)).toBe(0);
    expect(query(event)).toBe(600);
    expect(driver.cuStreamQuery(stream)).toBe(600);
    expect(call('int cuEventSynchronize(uint64_t event)')(event)).toBe(0);
    expect(query(event)).toBe(0);
    expect(driver.cuMemcpyDtoH(word, to, 4)).toBe(0);
    expect(word[0]).toBe(5);
    expect(call('int cuStreamDestroy_v2(uint64_t stream)')(stream)).toBe(0);
    expect(call('int cuEventDestroy_v2(uint64_t event)')(event)).toBe(0);
    expect(query(event)).toBe(400);
    expect(call('int cuMemFreeHost(uint64_t p)')(host)).toBe(0);
  });
  test('launches and copies that a driver refuses', () => {
    const { driver } = card;
    const bounded = kernel('double', 'out[i] = 1;').replace('void k', 'void __launch_bounds__(64) k');
    const module = card.module(bounded);
    const address = card.take(1000);
    expect(card.launch(module, 'k', address, 1, 128)).toBe(1);
    expect(card.launch(module, 'k', address, 0, 64)).toBe(1);
    expect(card.launch(module, 'k', address, 1, 64, 64 * 1024)).toBe(1);
    expect(driver.cuModuleGetFunction([0], module, 'none')).toBe(500);
    expect(driver.cuMemcpyDtoH(new Uint8Array(1001), address, 1001)).toBe(1);
    expect(driver.cuMemcpyHtoD(16, new Uint8Array(8), 8)).toBe(1);
    expect(driver.cuMemsetD8(16, 0, 8)).toBe(1);
    expect(driver.cuMemFree(16)).toBe(1);
    expect(driver.cuMemAlloc([0], 2 ** 40)).toBe(2);
    expect(driver.cuModuleUnload(module)).toBe(0);
    expect(driver.cuModuleGetFunction([0], module, 'k')).toBe(400);
  });
  test('a context that was reset without a fault works again once it is retained', () => {
    const own = new Raw(++used);
    const { driver } = own;
    const lost = own.take(8);
    expect(driver.cuDevicePrimaryCtxReset(used)).toBe(0);
    expect(driver.cuStreamQuery(0)).toBe(709);
    own.use();
    expect(driver.cuMemFree(lost)).toBe(1);
    expect(own.run(kernel('double', 'out[i] = i;'), new Float64Array(2), { threads: 2 })[1]).toBe(1);
  });
});
