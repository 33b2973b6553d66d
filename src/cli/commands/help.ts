/** Help texts: what each command does, its options from the table, and examples that tests run as they stand. */
import { COMMANDS, type Command, type Option, optionsOf } from '../options.ts';
import { columns } from '../show/numbers.ts';
import type { Style } from '../terminal.ts';
import { DEVICE_WORDS, METHOD_WORDS } from '../words.ts';

interface Page {
  usage: string;
  about: string;
  examples: readonly string[];
  more?: readonly [title: string, text: string][];
}

const EXIT: [string, string] = [
  'Exit codes',
  '0 converged, 2 not converged or stopped by Ctrl-C, 1 an error.',
];

const JSON_SHAPE: [string, string] = [
  'JSON',
  `--json prints one object. Members may be added in later versions, and are never renamed or removed:
integrand, variables, domain, params, value, error, status, converged, method, choice, device,
evaluations, chi2, dof, q, regions, nonFinite, seed (a string), elapsed (ms), warnings,
iterations: [{ value, error, evaluations, adapting }].
Numbers that are not known or not finite are null; infinite bounds are "Infinity" and "-Infinity".`,
];

export const PAGES: Record<Command, Page> = {
  integrate: {
    usage: "quadrille 'EXPRESSION' VARIABLE=FROM..TO [...] [options]",
    about: 'Computes the integral of an expression over ranges, with its error.',
    examples: [
      "quadrille 'exp(-(x^2 + y^2))' x=-inf..inf y=0..1 --rel-tol 1e-8",
      "quadrille '4sqrt(1 - x^2)' x=0..1",
      "quadrille 'x^2 + y^2 + z^2 < 1' x,y,z=-1..1 --method vegas+",
      "quadrille 'exp(-a*r) sin(r)' r=0..2pi --param a=3",
      "quadrille 'exp(-(x - 900)^2)' x=-inf..inf@900~1",
      "quadrille 'x^2 + y^2' 'x,y=ball(2)'",
    ],
    more: [
      [
        'Ranges',
        `x=0..1; x,y=0..1 for several variables; y=0..x for bounds that depend on variables before; x=0..0.3..1 with
a break, where the integrand has a step or a kink. Of infinite ranges, @ says where the integrand lies and ~
how far it reaches: x=-inf..inf@5~0.1, r=0..inf~1e-3. Shapes: x,y=ball, x,y,z=sphere(2), x,y=simplex,
with the size in brackets and the centre behind @: 'x,y=ball(2)@1,0'.`,
      ],
      [
        'Expressions',
        `+ - * / % ^, comparisons (0 < x < 1), && || !, condition ? value : other; pi, e, inf.
sqrt cbrt exp expm1 exp2 log ln log2 log10 log1p sin cos tan asin acos atan atan2 sinh cosh tanh
asinh acosh atanh abs sign floor ceil round trunc min max hypot pow erf erfc erfinv lgamma j0 j1.
-x^2 is -(x^2); log is the natural logarithm. A condition counts as 1 or 0.
A product needs no * between a number or ) and a name or (, as in 2x or (x+1)(x-1).`,
      ],
      JSON_SHAPE,
      EXIT,
    ],
  },
  run: {
    usage: 'quadrille run FILE [VARIABLE=FROM..TO ...] [options]',
    about: `Computes the integral of a function from a file. The default export is the function, and ranges or --dims give the
domain; or it is a problem { integrand, domain or dims, params, relTol, ... }. Options of the command line override
those of the file.`,
    examples: [
      'quadrille run integrand.ts --dims 4',
      'quadrille run integrand.mjs x=0..1 y=-inf..inf --rel-tol 1e-6',
      'quadrille run problem.ts --max-time 10s --svg convergence.svg',
    ],
    more: [JSON_SHAPE, EXIT],
  },
  scan: {
    usage: "quadrille scan 'EXPRESSION' VARIABLE=FROM..TO [...] --param A=FROM:TO:STEP [options]",
    about: `Computes an integral for each value of a parameter. Several parameters give all combinations of their values.
Rows are printed in order, as soon as they are known. A FILE can take the place of the expression.`,
    examples: [
      "quadrille scan 'exp(-a*x^2)' x=0..1 --param a=0:10:0.5",
      "quadrille scan 'x^a * y^b' x,y=0..1 --param a=1,2,3 --param b=0:1:0.25 --json",
    ],
    more: [
      [
        'Output',
        `CSV with the parameters, value, error, status, method, evaluations. With --json one object per line: params, value,
error, status and the other members that quadrille --help lists, without iterations.`,
      ],
      [
        'Exit codes',
        '0 all converged, 2 some not converged or stopped by Ctrl-C, 1 some failed, or an error.',
      ],
    ],
  },
  explain: {
    usage: "quadrille explain 'EXPRESSION' | FILE [VARIABLE=FROM..TO ...] [--target NAME]",
    about: `Shows what an integrand is compiled to: the intermediate program, or the code for a target. Without ranges, all
names in an expression are variables.`,
    examples: [
      "quadrille explain 'exp(-(x^2 + y^2))'",
      "quadrille explain 'erf(a*x)' x=0..inf --param a=2 --target cuda",
      'quadrille explain integrand.ts --dims 4 --target wasm',
    ],
  },
  devices: {
    usage: 'quadrille devices',
    about: 'Lists the devices of this machine, by the names that --device takes.',
    examples: ['quadrille devices', 'quadrille devices --json'],
  },
  worker: {
    usage: 'quadrille worker nats://HOST[:PORT] [options]',
    about: `Lets this machine take part in a cluster: it does parts of integrals that others run with --device nats://HOST. It
runs integrands as verified programs, never a text that was sent.`,
    examples: [
      'quadrille worker nats://host',
      'quadrille worker nats://host --device cpu:4 --name lab-7',
      "quadrille worker tls://host --device 'cuda:*'",
    ],
    more: [
      [
        'Login and TLS',
        `A password or a token can stand in the URL, nats://user:password@host. QUADRILLE_CREDENTIALS names a file with
credentials or the seed of an nkey, QUADRILLE_TLS_CA one with the certificate of the authority; a tls:// URL uses
the certificates of the system. --device nats://HOST of the other commands reads them too.`,
      ],
    ],
  },
  workers: {
    usage: 'quadrille workers nats://HOST[:PORT]',
    about:
      'Shows the workers of a cluster: machine, device, release, rate, and what each does now. In a terminal, live.',
    examples: ['quadrille workers nats://host', 'quadrille workers nats://host --json'],
  },
  cluster: {
    usage: 'quadrille cluster [--workers N]',
    about: 'Starts a NATS server and workers on this machine, for trying out. Ctrl-C ends them.',
    examples: ['quadrille cluster', 'quadrille cluster --workers 4'],
  },
  bench: {
    usage: 'quadrille bench [options]',
    about: `Runs integrands of the m-Cubes, PAGANI, cuVegas and ZMCintegral papers on this machine. The table has values,
true errors, evaluations and times. This takes a few seconds.`,
    examples: ['quadrille bench', 'quadrille bench --device cpu:1', 'quadrille bench --json'],
  },
  completion: {
    usage: 'quadrille completion bash|zsh|fish',
    about: 'Prints a script that lets the shell complete commands, options and their values.',
    examples: [
      'eval "$(quadrille completion bash)"       # in ~/.bashrc',
      'eval "$(quadrille completion zsh)"        # in ~/.zshrc, after compinit',
      'quadrille completion fish | source        # in ~/.config/fish/config.fish',
    ],
  },
};

export function helpText(command: Command, style: Style): string {
  const { usage, about, examples, more = [] } = PAGES[command];
  const indent = (text: string) => text.replace(/^/gm, '  ');
  const section = (title: string, text: string) => `${style.bold(title)}\n${indent(text)}`;
  return `${[
    about,
    section('Usage', usage),
    section('Examples', examples.join('\n')),
    section('Options', optionLines(command).join('\n')),
    ...listings(command).map(([title, rows]) => section(title, columns(rows).join('\n'))),
    ...more.map(([title, text]) => section(title, text)),
  ].join('\n\n')}\n`;
}

/** Lists of the methods and devices, for commands that have these options, and on the main page of the commands. */
function listings(command: Command): [title: string, rows: string[][]][] {
  const all: Record<string, [string, string[][]]> = {
    method: ['Methods', Object.entries(METHOD_WORDS)],
    device: ['Devices', Object.entries(DEVICE_WORDS)],
  };
  const found = optionsOf(command).flatMap(o => (o.name in all ? [all[o.name]] : []));
  const commands = COMMANDS.filter(c => c !== 'integrate').map(c => [c, `${firstSentence(c)}.`]);
  if (command === 'integrate') found.push(['Commands (quadrille COMMAND --help)', commands]);
  return found;
}

export const firstSentence = (command: Command): string =>
  PAGES[command].about.split(/[.:;]\s|\n/)[0].replace(/\.$/, '');

function optionLines(command: Command): string[] {
  const all = optionsOf(command);
  const rows = all.filter(o => !o.name.includes('.')).map(o => [head(o), o.help]);
  const families = new Map<string, Option[]>();
  for (const option of all) {
    const [family, name] = option.name.split('.');
    if (name) families.set(family, [...(families.get(family) ?? []), option]);
  }
  for (const [family, own] of families)
    rows.push([`--${family}.NAME VALUE`, own[0].help], ['', own.map(o => o.name.split('.')[1]).join(', ')]);
  return columns(rows);
}

const head = ({ name, short, value }: Option): string =>
  `--${name}${value ? ` ${value}` : ''}${short ? `, -${short}` : ''}`;
