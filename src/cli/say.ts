/** The library's messages in the words of the command line: options as they are typed, points by the names of their variables. */
import { kebab, OPTIONS } from './options.ts';

const FLAGS = new Map(OPTIONS.filter(o => o.sets).map(o => [o.sets!, `--${o.name}`]));

export function inOurWords(message: string, variables: readonly string[] = []): string {
  return message
    .replace(/^(integrate|scan): /, '')
    .replace(/`([\w.]+)`/g, (whole, name: string) => FLAGS.get(name) ?? whole)
    .replace(/\b(\w+): '([\w:+-]+)'/g, (whole, name: string, value: string) =>
      FLAGS.has(name) ? `${FLAGS.get(name)} ${value}` : whole,
    )
    .replace(/\b(maxEvaluations|maxTime|maxIterations)\b/g, name => `--${kebab(name)}`)
    .replace(/ at \[([^\]…]*)\]/, (whole, list: string) => {
      const numbers = list.split(', ');
      if (numbers.length !== variables.length) return whole;
      return ` at ${numbers.map((n, i) => `${variables[i]} = ${n}`).join(', ')}`;
    });
}
