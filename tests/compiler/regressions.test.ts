/** Bugs that were found once, each as small as it gets, named for what is promised since. */
import { describe, expect, test } from 'vitest';
import { compile, type Integrand } from '../../src/integrand/compile.ts';
import { IntegrandError } from '../../src/integrand/diagnostics.ts';
import { walk } from '../../src/integrand/ir.ts';
import type { Params } from '../../src/integrand/params.ts';
import { table } from '../../src/integrand/tables.ts';
import { firstDifference, functionOf, threeWays } from './compare.ts';

const POINTS = [
  [0.3, 0.7],
  [0.6, 0.2],
  [0, 1],
  [-2, 3.5],
  [0.5, 0.5],
];

function expectAgreement(f: Integrand, params: Params = {}): void {
  const { plain, javascript, wasm } = threeWays(f, POINTS, params);
  expect(firstDifference(plain, javascript), `plain ${plain}, javascript ${javascript}`).toBe(-1);
  expect(firstDifference(plain, wasm), `plain ${plain}, wasm ${wasm}`).toBe(-1);
}

/** Either the same numbers as plain JavaScript, or a refusal: never other numbers. */
function expectAgreementOrRefusal(f: Integrand, params: Params = {}): void {
  try {
    compile(f, { dims: 2, params });
  } catch (e) {
    expect(e).toSatisfy(v => v instanceof IntegrandError || /^params\b/.test((v as Error).message));
    return;
  }
  expectAgreement(f, params);
}

describe('what a statement does happens once, in the order JavaScript has', () => {
  const bodies = {
    'a test that counts, of a loop with an unknown number of turns':
      'let i = 0, s = 0; while (i++ < x[0] * 5) s += i; return s + i * 100;',
    'a test that counts in a local array':
      'const a = [0, 0]; let s = 0; while (a[x[0] > 0.4 ? 1 : 0]++ < x[1] * 3) s++; return s + 10 * a[0] + 100 * a[1];',
    'the index of an element, before the value assigned to it':
      'const a = [0, 0, 0]; let i = 0; a[i++] = i + 5; a[i++] = i; return a[0] * 100 + a[1] * 10 + i + x[0];',
    'the index in a compound assignment':
      'const a = [1, 2, 3, 4]; let i = 0; a[i++] += 10; return a[0] * 100 + a[1] * 10 + i + x[0];',
    'the index under ++':
      'const a = [1, 2, 3]; let i = 0; a[i++]++; return a[0] * 100 + a[1] * 10 + i + x[0];',
    'the index in a logical assignment':
      'const a = [0, 2, 3]; let i = 0; a[i++] ||= 7; return a[0] * 100 + a[1] * 10 + i + x[0];',
    'the argument of void': 'let i = 0; void (i = 3); return i + x[0];',
    'the object of a method call': 'let k = 0; const r = (k++, Math).abs(x[0]); return r + k * 10;',
    'the object whose member is called':
      'let k = 0; const make = v => ({ f: u => u + v }); return make(++k).f(x[0]) + 10 * k;',
  };
  test.each(Object.entries(bodies))('%s', (_, body) => expectAgreement(functionOf(`x => { ${body} }`)));
});

describe('arrays', () => {
  test('the rest of a pattern can be read at an index known at run time', () => {
    expectAgreement(
      (x, p) => {
        const [first, ...rest] = p.data;
        return first + rest[Math.floor(Math.abs(x[0])) % 2];
      },
      { data: Float64Array.of(4, 5, 6) },
    );
  });
  test('the rest of a pattern can be written at an index known at run time', () => {
    expectAgreement(
      (x, p) => {
        const [first, ...rest] = p.data;
        rest[x[0] > 0.4 ? 1 : 0] += first;
        return rest[0] + 100 * rest[1];
      },
      { data: Float64Array.of(4, 5, 6) },
    );
  });
  test('writing through a choice between arrays reaches them, or is refused', () => {
    expectAgreementOrRefusal(x => {
      const a = [1, 2];
      const b = [3, 4];
      (x[0] > 0.5 ? a : b).fill(0);
      return a[0] + 10 * b[0];
    });
    expectAgreementOrRefusal(x => {
      const a = [1, 2];
      const b = [3, 4];
      (x[0] > 0.5 ? a : b)[1] = 7;
      return a[1] + 10 * b[1];
    });
  });
  test('a choice between arrays sees what is written to them later, or it is refused', () => {
    expectAgreementOrRefusal(x => {
      const a = [1, 2];
      const b = [3, 4];
      const c = x[0] > 0.5 ? a : b;
      a[0] = 9;
      return c[0];
    });
    expectAgreementOrRefusal(x => {
      const a = [1, 2];
      let c = [3, 4];
      if (x[0] > 0.5) c = a;
      a[0] = 9;
      return c[0];
    });
  });
  test('map over integers keeps what plain JavaScript keeps, or is refused', () => {
    expectAgreementOrRefusal((x, p) => p.bytes.map((v: number) => v / 2)[1] + x[0], {
      bytes: Uint8Array.of(1, 3, 5),
    });
  });
  test('an element outside an array with a stand-in is the stand-in, or refused', () => {
    expectAgreementOrRefusal((x, p) => p.data[Math.floor(x[0] * 10)] ?? 7, {
      data: Float64Array.of(4, 5, 6),
    });
  });
  test('a boolean is no index', () => {
    expectAgreementOrRefusal(functionOf('x => x[x[1] > 0.5]'));
    expectAgreementOrRefusal(functionOf('x => x[true]'));
    expectAgreementOrRefusal(functionOf('(x, p) => p.data[p.on]'), { on: true, data: Float64Array.of(1, 2) });
    expectAgreementOrRefusal(functionOf('x => { const a = [1, 2]; a[x[0] > 0.5] = 5; return a[0] + a[1]; }'));
  });
  test('an array chosen between two is named as such when an index of it is not known', () => {
    const f = (x: number[]) => {
      const g = x[0] > 0.5 ? [1, x[1]] : [x[1], 2];
      return g[Math.floor(Math.abs(x[0])) % 2];
    };
    try {
      expectAgreement(f);
    } catch (e) {
      expect((e as Error).message).not.toContain('Only arrays have elements');
      expect((e as Error).message).not.toContain('of of');
    }
  });
});

describe('params', () => {
  test.each(['constructor', 'toString', 'valueOf', 'hasOwnProperty', '#0'])(
    '%s is a name as any other',
    name => {
      const f = functionOf(`(x, p) => {
      const digits = [1, 2, 3];
      return digits[Math.floor(Math.abs(x[0] * 3)) % 3] + p[${JSON.stringify(name)}][1] + x[0];
    }`);
      expectAgreementOrRefusal(f, { [name]: Float64Array.of(4, 8) });
    },
  );
  test('an array named like a part of a table does not stand in for it', () => {
    const params = { a: table([[0, 1, 3]], [1, 2, 4]), 'a.0': Float64Array.of(4, 5, 6) };
    expectAgreementOrRefusal((x, p) => p.a(x[0]) + p['a.0'][0], params);
  });
});

describe('conditions', () => {
  test('a number and a boolean meet in && and || where JavaScript asks for truth', () => {
    expectAgreement(x => (x[0] > 0.4 || x[1] - 1 ? 1 : 2));
    expectAgreement(x => {
      let n = 0;
      for (let i = 0; i < 5 && (x[0] || i > 2); i++) if (!(x[1] && i < 3)) n++;
      return n;
    });
  });
  test('a loop with two labels is continued by either', () => {
    expectAgreement(
      functionOf(
        'x => { let s = 0; a: b: for (let i = 0; i < 3; i++) { if (i > x[0]) continue a; s += i; } return s; }',
      ),
    );
  });
  test('a boolean is no integer', () => {
    expectAgreementOrRefusal(functionOf('x => (Number.isInteger(x[0] > 0.5) ? 1 : 0)'));
  });
});

describe('large programs', () => {
  const refusedOrDone = (text: string) => {
    try {
      compile(functionOf(text), { dims: 1 });
    } catch (e) {
      expect(e).toBeInstanceOf(IntegrandError);
    }
  };
  test('a nest of loops of 8000 turns stays a loop, however little a turn does', () => {
    const { program } = compile(
      x => {
        let s = 0;
        for (let i = 0; i < 20; i++)
          for (let j = 0; j < 20; j++) for (let k = 0; k < 20; k++) if (i + j + k === 9) s += x[0] * k;
        return s;
      },
      { dims: 1 },
    );
    let loops = 0;
    walk(program.body, s => {
      if (s.kind === 'loop') loops++;
    });
    expect(loops).toBeGreaterThan(0);
  });
  test('1500 early returns in a row compile, or are refused', () => {
    const returns = Array.from(
      { length: 1500 },
      (_, i) => `if (x[0] < ${i / 1500}) return ${i} * Math.exp(x[0]);`,
    );
    refusedOrDone(`x => { ${returns.join('\n')} return 1; }`);
  });
  test('500 parentheses compile, or are refused', () => {
    refusedOrDone(`x => ${'('.repeat(500)}x[0]${')'.repeat(500)}`);
  });
  test('a sum of 20000 terms compiles, or is refused', () => {
    refusedOrDone(`x => ${Array(20000).fill('x[0]').join(' + ')}`);
  });
});
