/** The `js` device: functions that the compiler refuses run as they are, on every core when workers can make them. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { integrate } from 'quadrille';
import { describe, expect, test } from 'vitest';

/** Enough samples an iteration that workers are used. */
const protocol = { evaluations: 200_000, iterations: 3, adapt: 1 };

function steps(x: number[]): number {
  switch (Math.floor(x[0] * 3)) {
    case 0:
      return 1;
    case 1:
      return 2;
    default:
      return 3;
  }
}

describe('a function that the compiler refuses', () => {
  test('is refused with a hint at this device', async () => {
    await expect(integrate(steps, { dims: 2 })).rejects.toThrow(/cannot use `switch`[\s\S]*device: 'js'/);
  });

  test('runs on workers when its text uses nothing from outside', async () => {
    const r = await integrate(steps, { dims: 2, device: 'js', relTol: 0, vegas: protocol });
    expect(r.device).toBe('js');
    expect(Math.abs(r.value - 2)).toBeLessThan(5 * r.error);
  });

  test('runs on this thread when it does, and says so', async () => {
    const table = new Map([[1, 2]]);
    const r = await integrate(x => table.get(1)! * x[0], { dims: 1, device: 'js' });
    expect(r.device).toBe('js on this thread');
    expect(Math.abs(r.value - 1)).toBeLessThan(5 * r.error);
  });

  test('may be async', async () => {
    const f = async (x: number[]) => {
      await null;
      return x[0] * x[0];
    };
    const r = await integrate(f as never, { dims: 1, device: 'js', maxEvaluations: 20_000 });
    expect(Math.abs(r.value - 1 / 3)).toBeLessThan(5 * r.error);
  });

  const k = 3;
  test.each<[string, (x: number[]) => unknown, RegExp]>([
    ['nothing', ([x]) => void (k * x), /returns nothing at \[[\d.]+\]; is a `return` missing\?/],
    [
      'nothing on some path',
      ([x]) => {
        if (x < 0.6) return k * x;
      },
      /returns nothing at \[0\.[6-9]\d*\]; is a `return` missing\? Return a number on every path\./,
    ],
    ['a promise of nothing', async ([x]) => void (k * x), /returns nothing at .* `return`/],
    ['a string', ([x]) => `${k} ${x}`, /returns a string at \[[\d.]+\]; return a number/],
    [
      'an object that holds more than numbers',
      ([x]) => ({ value: k * x, name: 'a' }),
      /returns an object with the members value, name at .*; return a number, or/,
    ],
    [
      'an array where it returns a number elsewhere',
      ([x]) => (x < 0.6 ? k : [k, x]),
      /returns an array of 2 elements at \[0\.[6-9]/,
    ],
  ])('that returns %s is told so', async (_, f, message) => {
    const run = integrate(f as never, { dims: 1, device: 'js', maxEvaluations: 1e4 });
    await expect(run).rejects.toThrow(message);
    const far = { domain: [[0, Infinity]] as const, device: 'js', maxEvaluations: 1e4 };
    await expect(integrate(f as never, far)).rejects.toThrow(
      /the (integrand|function) returns (nothing|a|an|one) /,
    );
  });
  test('whose arrays come where a number came at first does not count their first elements', async () => {
    let calls = 0;
    const f = ([x]: number[]) => (calls++ < 3 ? k : [x, 0]);
    const run = integrate(f as never, { dims: 1, device: 'js', maxEvaluations: 1e4 });
    await expect(run).rejects.toThrow(/returns an array of 2 elements/);
  });

  test('that throws rejects with its own error, on this thread and on workers', async () => {
    const f = (x: number[]) => {
      if (x[0] > 0.999) throw new Error('boom');
      return 1;
    };
    await expect(integrate(f, { dims: 1, device: 'js', method: 'vegas+' })).rejects.toThrow('boom');
    await expect(integrate(f, { dims: 1, device: 'js', vegas: protocol })).rejects.toThrow('boom');
    const after = await integrate(steps, { dims: 1, device: 'js', relTol: 0, vegas: protocol }); // the next call works
    expect(Math.abs(after.value - 2)).toBeLessThan(5 * after.error);
  });
});

describe('a function that workers could not make from its text stays on this thread', () => {
  const options = { dims: 1, device: 'js', relTol: 0, vegas: protocol } as const;
  const here = async (f: (x: number[]) => number, value: number) => {
    const r = await integrate(f, options);
    expect(r.device).toBe('js on this thread');
    expect(Math.abs(r.value - value)).toBeLessThan(5 * r.error + 1e-12);
  };
  test('one that uses its own properties', async () => {
    function f(x: number[]): number {
      return f.k * x[0];
    }
    f.k = 3;
    await here(f, 1.5);
  });
  test('one that uses a function which the program has put into Math', async () => {
    const { sin } = Math;
    Math.sin = x => x;
    try {
      await here(([x]) => Math.sin(x), 0.5);
    } finally {
      Math.sin = sin;
    }
  });
  test("one that uses its module's own parseFloat or Math", async () => {
    const make = (text: string) =>
      new Function(`const parseFloat = x => 2 * x, Math = { sin: x => x }; return ${text}`)();
    await here(make('([x]) => parseFloat(x)'), 1);
    await here(make('([x]) => Math.sin(x)'), 0.5);
  });
  test('one with a name that is free in one place and bound in another', async () => {
    const k = 4;
    await here(x => {
      const g = (k: number) => k + 1;
      return g(0) * k * x[0];
    }, 2);
  });
  test('one that uses a global of this thread alone', async () => {
    (globalThis as { quadrilleTest?: number }).quadrilleTest = 6;
    await here(new Function('return x => quadrilleTest * x[0]')(), 3);
  });
});

describe('params', () => {
  test.each(['js', 'cpu'])(
    'are those of the time of the call: arrays may change afterwards, on %s',
    async device => {
      const w = Float64Array.of(0);
      const runs = [1, 2, 3, 4].map(i => {
        w[0] = i;
        return integrate((x, p) => p.w[0] * x[0], { dims: 1, device, params: { w } });
      });
      const values = (await Promise.all(runs)).map(r => Math.round(2 * r.value));
      expect(values).toEqual([1, 2, 3, 4]);
    },
  );
});

describe('workers', () => {
  test('an async function gives the bits of the plain one: chunks do not get into each other', async () => {
    const options = { dims: 2, device: 'js', relTol: 0, vegas: protocol } as const;
    const plain = await integrate(([x, y]) => x * y, options);
    const later = await integrate(
      (async ([x, y]: number[]) => {
        await new Promise(resolve => setTimeout(resolve, 0));
        return x * y;
      }) as never,
      { ...options, vegas: { ...protocol, evaluations: 70_000 } },
    );
    const same = await integrate(([x, y]) => x * y, {
      ...options,
      vegas: { ...protocol, evaluations: 70_000 },
    });
    expect(plain.device).toBe('js');
    expect([later.value, later.evaluations]).toEqual([same.value, same.evaluations]);
  });

  test('one that dies rejects the run with its cause, and the next call has a new one', async () => {
    const die = (x: number[]) => {
      if (x[0] < 1e-4) process.exit(3);
      return 1;
    };
    await expect(integrate(die, { dims: 1, device: 'js', relTol: 0, vegas: protocol })).rejects.toThrow(
      /worker died/,
    );
    const after = await integrate(([x]) => x, { dims: 1, relTol: 0, vegas: protocol });
    expect(Math.abs(after.value - 0.5)).toBeLessThan(5 * after.error);
  });

  test('a function that goes on after an abort does not hold up the next call', async () => {
    const slow = (x: number[]) => {
      const until = performance.now() + 2;
      while (performance.now() < until);
      return x[0];
    };
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 200);
    const r = await integrate(slow, { dims: 1, device: 'js', signal: controller.signal, vegas: protocol });
    expect(r.status).toBe('aborted');
    const after = await integrate(([x]) => x, { dims: 1, relTol: 0, vegas: protocol });
    expect(after.evaluations).toBeGreaterThan(1e5);
  });
});

describe('the same samples as the compiled function', () => {
  const f = ([x, y]: number[], p: { a: number }) => p.a * x * x + y;
  const options = { params: { a: 2.5 }, relTol: 0, vegas: protocol };

  test('the same bits for an integrand of basic arithmetic, on workers', async () => {
    const [js, cpu] = await Promise.all([
      integrate(f, { ...options, dims: 2, device: 'js' }),
      integrate(f, { ...options, dims: 2, device: 'cpu' }),
    ]);
    expect([js.value, js.error]).toEqual([cpu.value, cpu.error]);
  });

  test('the same over an infinite range, to rounding', async () => {
    const g = (x: number[]) => Math.exp(-x[0] * x[0]);
    const problem = { domain: [[-Infinity, Infinity]] as [number, number][], relTol: 0, vegas: protocol };
    const js = await integrate(g, { ...problem, device: 'js' });
    const cpu = await integrate(g, { ...problem, device: 'cpu' });
    expect(js.device).toBe('js');
    expect(Math.abs(js.value / cpu.value - 1)).toBeLessThan(1e-9);
  });
});

describe("a module's export named by URL", () => {
  const file = join(mkdtempSync(join(tmpdir(), 'quadrille-')), 'integrand.mjs');
  writeFileSync(
    file,
    "import { EOL } from 'node:os';\nexport const f = x => (EOL ? x[0] : 0);\nexport default x => x[0] * x[1];\n",
  );
  const url = pathToFileURL(file);

  test('runs on workers, what it imports included', async () => {
    const r = await integrate(new URL('#f', url), { dims: 1, device: 'js', relTol: 0, vegas: protocol });
    expect(r.device).toBe('js');
    expect(Math.abs(r.value - 0.5)).toBeLessThan(5 * r.error);
  });

  test('is compiled on the cpu device; without a # it is the default export', async () => {
    const r = await integrate(url, { dims: 2 });
    expect(Math.abs(r.value - 0.25)).toBeLessThan(5 * r.error);
  });

  test('that is not there is named', async () => {
    await expect(integrate(new URL('#g', url), { dims: 1 })).rejects.toThrow(/no exported function 'g'/);
  });
});

test('an async function with many iterations and a limit leaves no listener per task, of which Node would warn', async () => {
  const names: string[] = [];
  const hear = (w: Error) => names.push(w.name);
  process.on('warning', hear);
  const f = async ([x]: number[]) => Math.sqrt(Math.abs(x - 0.3));
  const options = { dims: 1, device: 'js', method: 'pagani', relTol: 1e-7, maxTime: 60_000 } as const;
  const r = await integrate(f as never, options);
  await new Promise(done => setTimeout(done, 0));
  process.off('warning', hear);
  expect(r.iterations.length).toBeGreaterThan(11);
  expect(names).toEqual([]);
});
