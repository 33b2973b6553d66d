/** Which method `auto` takes, that it says so, and that it changes its mind. */
import { afterAll, describe, expect, test } from 'vitest';
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import type { Device, Session } from '../../src/devices/device.ts';
import { type Integrand, type IntegrateOptions, integrate } from '../../src/index.ts';
import type { Part } from '../../src/tasks/part.ts';
import type { RegionSums, RegionTask } from '../../src/tasks/region.ts';
import type { WitnessSums, WitnessTask } from '../../src/tasks/witness.ts';
import { catalogue } from '../integrands/catalogue.ts';

const pick = (name: string) => catalogue.find(e => e.name === name)!;

/** The CPU, and the turns that methods had on it: R for regions, S for samples, once a turn. */
const cpu = new CpuDevice(2);
let turns = '';
const device: Device = {
  name: 'spy',
  kind: 'spy',
  epsilon: cpu.epsilon,
  close: () => cpu.close(),
  async open(integrand, options) {
    const session = await cpu.open(integrand, options);
    const note = (letter: string) => {
      if (!turns.endsWith(letter)) turns += letter;
    };
    return new Proxy(session, {
      get(target, name: keyof Session) {
        if (name === 'sample') note('S');
        if (name === 'regions') note('R');
        const member = target[name];
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
  },
};
afterAll(() => device.close());

const run = (f: Integrand, options: object) => {
  turns = '';
  return integrate(f, { device, maxEvaluations: 3e6, ...options } as IntegrateOptions);
};
const runEntry = (name: string, options: object) => {
  const { f, domain, params = {} } = pick(name);
  return run(f as never, { domain, params, ...options });
};

describe('a pilot is enough', () => {
  test.each(['f1_5', 'f3_3', 'f7_8', 'sine_exponential_2'])(
    '%s at 1e-2: pagani, and vegas+ never ran',
    async name => {
      const r = await runEntry(name, { relTol: 1e-2 });
      expect([r.method, r.status, turns]).toEqual(['pagani', 'converged', 'R']);
      expect(r.choice).toBe('pagani: its pilot reached the tolerance');
      expect(r.regions).toBeGreaterThan(0);
      expect(r.iterations.every(i => !i.adapting)).toBe(true);
    },
  );
  test.each(['linear_10', 'roos_arnold_10', 'cosine_10'])(
    '%s at 1e-2: vegas+ begins, and pagani never ran',
    async name => {
      const r = await runEntry(name, { relTol: 1e-2 });
      expect([r.method, r.status, turns]).toEqual(['vegas+', 'converged', 'S']);
      expect(r.choice).toBe('vegas+: its pilot reached the tolerance');
      expect(r.regions).toBeUndefined();
      expect(r.iterations.some(i => i.adapting)).toBe(true);
    },
  );
});

describe('the pilot of the first is not enough', () => {
  test.each(['f6_6', 'f2_6', 'f4_8', 'f5_8'])('%s at 1e-2: pagani begins, vegas+ gets there', async name => {
    const r = await runEntry(name, { relTol: 1e-2 });
    expect([r.method, r.status]).toEqual(['vegas+', 'converged']);
    expect(turns).toMatch(/^R.*S$/);
    expect(r.choice).toMatch(/^vegas\+: /);
    expect(Math.abs(r.value - pick(name).truth!)).toBeLessThanOrEqual(4.5 * r.error);
  });
  test.each(['linear_10', 'cosine_10'])('%s at 1e-4: vegas+ begins, pagani gets there', async name => {
    const r = await runEntry(name, { relTol: 1e-4 });
    expect([r.method, r.status]).toEqual(['pagani', 'converged']);
    expect(turns).toMatch(/^S.*R$/);
    expect(r.choice).toMatch(/^pagani: /);
    expect(Math.abs(r.value - pick(name).truth!)).toBeLessThanOrEqual(1e-4 * pick(name).truth!);
  });
  test('a sharp ball in 5 dimensions: what pagani has is worse with every turn, and vegas+ gets there', async () => {
    const ball: Integrand = (x: number[]) => (x.reduce((s, v) => s + (v - 0.5) ** 2, 0) < 0.16 ? 1 : 0);
    const r = await run(ball, { dims: 5, relTol: 3e-3 });
    expect([r.method, r.status]).toEqual(['vegas+', 'converged']);
    expect(Math.abs(r.value - ((8 * Math.PI ** 2) / 15) * 0.4 ** 5)).toBeLessThanOrEqual(4.5 * r.error);
  });
  test('a smooth sum of 12 waves in 3 dimensions at 1e-9: no hope for vegas+, pagani goes on alone', async () => {
    const f: Integrand = ([x, y, z]) => Math.cos(20 * x + 9 * y) * Math.exp(z * y) + 1;
    const r = await run(f, { dims: 3, relTol: 1e-9, maxEvaluations: 1e7 });
    expect([r.method, r.status]).toEqual(['pagani', 'converged']);
  });
  test('turns are taken: both have some more than once before one gets there', async () => {
    const r = await runEntry('f4_5', { relTol: 1e-4, maxEvaluations: 2e7 });
    expect(r.status).toBe('converged');
    expect(turns.length).toBeGreaterThanOrEqual(3);
  });
});

describe('nobody gets there', () => {
  test('the smaller error is taken, both are named, the status is budget', async () => {
    const r = await runEntry('f1_8', { relTol: 1e-4, maxEvaluations: 2e6 });
    expect(r.status).toBe('budget');
    expect(r.choice).toMatch(
      /^(pagani|vegas\+): neither reached the tolerance, (pagani|vegas\+) (has|would have) the larger error$/,
    );
    expect(Math.abs(r.value - pick('f1_8').truth!)).toBeLessThanOrEqual(4.5 * r.error);
  });
});

describe('without a choice', () => {
  const sum: Integrand = (x: number[]) => x.reduce((s, v) => s + v * v, 0);
  test.each([15, 25, 60])('%i dimensions: vegas+, and it says why', async dims => {
    const r = await run(sum, { dims, relTol: 1e-2 });
    expect([r.method, r.status, turns]).toEqual(['vegas+', 'converged', 'S']);
    expect(r.choice).toMatch(new RegExp(`too many points in ${dims} dimensions`));
    expect(Math.abs(r.value - dims / 3)).toBeLessThanOrEqual(4.5 * r.error);
  });
  test('a budget too small for a rule: vegas+', async () => {
    const r = await run(sum, { dims: 8, relTol: 1e-9, maxEvaluations: 2000 });
    expect([r.method, turns]).toEqual(['vegas+', 'S']);
    expect(r.evaluations).toBeLessThanOrEqual(2000);
  });
  test.each([{ evaluations: 4000 }, { iterations: 12 }, { adapt: 3 }, { skip: 2 }])(
    'a protocol, %o: vegas+ with the bits of method vegas+',
    async vegas => {
      const options = { dims: 3, relTol: 0, vegas: { evaluations: 4000, iterations: 12, ...vegas } };
      const r = await run(sum, options);
      const own = await run(sum, { ...options, method: 'vegas+' });
      expect([r.method, turns, r.value, r.error, r.evaluations]).toEqual([
        'vegas+',
        'S',
        own.value,
        own.error,
        own.evaluations,
      ]);
      expect(r.iterations).toEqual(own.iterations);
      expect(r.choice).toMatch(/^vegas\+: /);
    },
  );
  test('a method that was asked for has no choice, and its text no (auto)', async () => {
    const r = await run(sum, { dims: 2, method: 'pagani' });
    expect(r.choice).toBeUndefined();
    expect(`${r}`).not.toContain('(auto)');
    expect((await run(sum, { dims: 2, method: 'auto' })).choice).toBeDefined();
  });
});

test('the iterations in the result are those of the method that was chosen', async () => {
  for (const name of ['f6_6', 'cosine_10', 'f2_6']) {
    const r = await runEntry(name, { relTol: name === 'cosine_10' ? 1e-4 : 1e-2 });
    const last = r.iterations.at(-1)!;
    if (r.method === 'pagani') {
      expect([last.value, last.error]).toEqual([r.value, r.error]);
      for (let i = 1; i < r.iterations.length; i++)
        expect(r.iterations[i].evaluations).toBeGreaterThan(r.iterations[i - 1].evaluations);
    } else {
      const counted = r.iterations.filter(i => !i.adapting);
      const n = counted.reduce((s, i) => s + i.evaluations, 0);
      const mean = counted.reduce((s, i) => s + i.value * (i.evaluations / n), 0);
      expect(Math.abs(mean / r.value - 1)).toBeLessThan(1e-12);
      expect(r.dof).toBe(counted.length - 1);
    }
    expect(r.summary()).toContain(r.method);
  }
});

test('given backwards: value and iterations have the other sign', async () => {
  const f: Integrand = ([x, y]) => Math.sqrt(Math.abs(x - y)) + 1;
  const there = await run(f, {
    domain: [
      [0, 1],
      [0, 1],
    ],
    relTol: 1e-3,
  });
  const back = await run(f, {
    domain: [
      [1, 0],
      [0, 1],
    ],
    relTol: 1e-3,
  });
  expect([back.value, back.error]).toEqual([-there.value, there.error]);
  expect(back.iterations.map(i => -i.value)).toEqual(there.iterations.map(i => i.value));
});

describe('a contradiction', () => {
  /** The CPU for samples; regions as of an integrand that is `wrong` everywhere, and exactly so, and witnesses who say nothing. */
  const lying = (wrong: number, witnesses: 'silent' | 'honest'): Device => ({
    name: 'lying',
    kind: 'lying',
    epsilon: cpu.epsilon,
    close: async () => {},
    async open(integrand, options) {
      const session = await cpu.open(integrand, options);
      return new Proxy(session, {
        get(target, name: keyof Session) {
          if (name === 'regions')
            return async ({ count, levels, ranges }: RegionTask, part: Part): Promise<RegionSums> => ({
              part,
              values: Float64Array.from({ length: count }, (_, i) =>
                ranges.reduce((v, _range, d) => v * 2 ** -levels[d * count + i], wrong),
              ),
              errors: new Float64Array(count).fill(1e-9),
              axes: new Uint8Array(count),
              nonFinite: null,
            });
          if (name === 'witness' && witnesses === 'silent')
            return async ({ witnesses }: WitnessTask, part: Part): Promise<WitnessSums> => ({
              part,
              deviations: new Float64Array(part.count),
              spreads: new Float64Array(part.count).fill(1e-9),
              surprises: new Uint8Array(part.count),
              missing: new Float64Array(part.count),
              axes: new Uint8Array(part.count),
              witnesses,
              evaluations: witnesses,
              nonFinite: null,
            });
          const member = target[name];
          return typeof member === 'function' ? member.bind(target) : member;
        },
      });
    },
  });
  const { f, dims, truth } = pick('cosine_10');
  const claim = (wrong: number, relTol: number, witnesses: 'silent' | 'honest' = 'silent') =>
    integrate(f as never, { dims, relTol, maxEvaluations: 2e7, device: lying(wrong, witnesses) });

  test('pagani at 1.05 times what vegas+ has measured: nobody is believed, and it says so', async () => {
    const r = await claim(1.05 * truth!, 4e-5);
    expect(r.converged).toBe(false);
    expect(r.warnings.join()).toMatch(/they disagree/);
  });
  test('pagani at 1.05 times it, but its witnesses contradict: lattices are believed', async () => {
    const r = await claim(1.05 * truth!, 4e-5, 'honest');
    expect([r.method, r.status]).toEqual(['lattice', 'converged']);
    expect(Math.abs(r.value / truth! - 1)).toBeLessThan(2e-4);
  });
  test('pagani at 1 + 1e-7 times it: believed', async () => {
    const r = await claim((1 + 1e-7) * truth!, 4e-5);
    expect([r.method, r.status]).toEqual(['pagani', 'converged']);
  });
});
