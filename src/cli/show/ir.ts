/** Prints a program of the intermediate representation, with one value per line: `v3 = mul v1 v2`. */
import type { Id, Let, Program, Statement } from '../../integrand/ir.ts';
import { leaves } from '../../integrand/shape.ts';

export function irText(program: Program): string {
  const lines: string[] = [];
  const numbers = new Map<Id, string>();
  const constants = new Map<Id, string>();
  // values are numbered in the order in which they appear: ids have gaps where the optimiser removed some
  const name = (id: Id): string => {
    const known = constants.get(id) ?? numbers.get(id);
    if (known !== undefined) return known;
    numbers.set(id, `v${numbers.size}`);
    return numbers.get(id)!;
  };
  const all = (ids: readonly Id[]) => ids.map(name).join(' ');
  const labels = new Map<number, string>();
  const label = (n: number): string => {
    if (!labels.has(n)) labels.set(n, `L${labels.size}`);
    return labels.get(n)!;
  };
  const put = (depth: number, text: string) => lines.push(`${'  '.repeat(depth)}${text}`.trimEnd());
  const opened = (out: readonly { id: Id }[]) => (out.length > 0 ? `${all(out.map(v => v.id))} = ` : '');

  const value = (s: Let): string => {
    switch (s.op) {
      case 'param':
        return `param ${s.name}`;
      case 'element':
        return `element ${s.array} ${all(s.args)}`;
      case 'load':
        return `load array${s.array} ${all(s.args)}`;
      case 'call':
        return `call ${s.fn} ${all(s.args)}`;
      case 'const':
        return String(s.value);
      default:
        return `${s.op} ${all(s.args)}`;
    }
  };
  const list = (body: readonly Statement[], depth: number): void => {
    for (const s of body) {
      switch (s.kind) {
        case 'let':
          // a constant is printed where it is used
          if (s.op === 'const') constants.set(s.id, Object.is(s.value, -0) ? '-0' : String(s.value));
          else put(depth, `${name(s.id)} = ${value(s)}`);
          break;
        case 'store':
          put(depth, `store array${s.array} ${name(s.index)} ${name(s.value)}`);
          break;
        case 'if':
          put(depth, `${opened(s.out)}if ${name(s.cond)}`);
          list(s.then, depth + 1);
          put(depth, 'else');
          list(s.else, depth + 1);
          break;
        case 'block':
          put(depth, `${opened(s.out)}block ${label(s.label)}`);
          list(s.body, depth + 1);
          break;
        case 'loop': {
          const carried = s.carried.map((v, i) => `${name(v.id)} = ${name(s.init[i])}`).join(', ');
          put(depth, `${opened(s.out)}loop ${label(s.label)} with ${carried || 'nothing'}`);
          list(s.body, depth + 1);
          break;
        }
        case 'break':
          put(depth, `break ${label(s.label)} ${all(s.args)}`);
          break;
        case 'unreachable':
          put(depth, 'unreachable');
          break;
        default:
          put(depth, `${s.kind} ${all(s.args)}`);
      }
    }
  };
  for (const [constant, data] of Object.entries(program.constants))
    put(0, `constant ${constant}: ${data.length} numbers`);
  program.arrays.forEach((length, i) => put(0, `array${i}: ${length} numbers`));
  list(program.body, 0);
  if (!program.shape) put(0, `result ${all(program.results)}`);
  else leaves(program.shape).forEach((leaf, r) => put(0, `result ${leaf} = ${name(program.results[r])}`));
  return lines.join('\n');
}
