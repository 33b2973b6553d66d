/**
 * Draws the convergence as SVG: the running estimate, with its error as a band, against the evaluations. Colours follow
 * the colour scheme of the reader, light or dark. The second half of the run sets the vertical scale; early estimates that
 * are far off lie outside the frame.
 */
import { Result, withError } from '../../result.ts';
import { historyOf, type Step } from './history.ts';
import { rounded } from './numbers.ts';
import { hasEstimate } from './report.ts';

/** Of several results the first goal is drawn: its history is that of the iterations. */
function firstGoal({ shape: _, ...rest }: Result, steps: readonly Step[]): Result {
  const { value, error } = steps.at(-1) ?? { value: 0, error: Infinity };
  return new Result({ ...rest, value, error, chi2: 0, q: 1 });
}

const FRAME = { left: 96, top: 72, width: 600, height: 264 };
const SIZE = { width: 728, height: 400 };

const STYLE = `
    .page { fill: #ffffff } .ink { fill: #1c2128 } .soft { fill: #667080 }
    .grid { stroke: #e4e7eb } .axis { stroke: #9aa3ad } .band { fill: #2f6fde; fill-opacity: 0.16 }
    .line { stroke: #2f6fde } .dot { fill: #2f6fde } .faint { fill: #9aa3ad } .final { stroke: #c2410c }
    @media (prefers-color-scheme: dark) {
      .page { fill: #14171c } .ink { fill: #e6e9ee } .soft { fill: #97a1af }
      .grid { stroke: #2a3038 } .axis { stroke: #596270 } .band { fill: #6ea0ff; fill-opacity: 0.2 }
      .line { stroke: #6ea0ff } .dot { fill: #6ea0ff } .faint { fill: #6b7480 } .final { stroke: #ff9a5c }
    }
    text { font: 12px system-ui, sans-serif } .title { font-size: 16px; font-weight: 600 }
    path, line { fill: none; stroke-width: 1 } .line { stroke-width: 1.5 } .band { stroke: none }`;

export function svg(given: Result, title: string): string {
  const steps = historyOf(given);
  const r = given.shape ? firstGoal(given, steps) : given;
  const { x, y } = scales(r, steps);
  const counted = steps.filter(s => !s.adapting);
  const edge = (sign: 1 | -1) => counted.map(s => `${x.at(s.evaluations)},${y.at(s.value + sign * s.error)}`);
  const middle = counted.map(s => `${x.at(s.evaluations)},${y.at(s.value)}`);
  const { left, top, width, height } = FRAME;
  const value = hasEstimate(r) ? withError(r.value, r.error) : 'no estimate yet';
  const found = `${value}, ${r.status}, ${r.method} on ${r.device}`;
  const parts = [
    `<rect class="page" width="${SIZE.width}" height="${SIZE.height}"/>`,
    text(left, 30, title.length > 70 ? `${title.slice(0, 69)}…` : title, 'ink title'),
    text(left, 52, found, 'soft'),
    ...y.ticks.flatMap(v => [
      `<line class="grid" x1="${left}" x2="${left + width}" y1="${y.at(v)}" y2="${y.at(v)}"/>`,
      text(left - 8, y.at(v) + 4, y.label(v), 'soft', 'end'),
    ]),
    ...x.ticks.flatMap(v => [
      `<line class="grid" x1="${x.at(v)}" x2="${x.at(v)}" y1="${top}" y2="${top + height}"/>`,
      text(x.at(v), top + height + 20, rounded(v, 0), 'soft', 'middle'),
    ]),
    '<g clip-path="url(#frame)">',
    ...(counted.length > 1
      ? [`<path class="band" d="M${[...edge(1), ...edge(-1).reverse()].join('L')}Z"/>`]
      : []),
    `<line class="final" stroke-dasharray="5 4" x1="${left}" x2="${left + width}" y1="${y.at(r.value)}" y2="${y.at(r.value)}"/>`,
    ...(counted.length > 1 ? [`<path class="line" d="M${middle.join('L')}"/>`] : []),
    ...steps.map(s => dot(s, x.at(s.evaluations), y.at(s.value))),
    '</g>',
    `<path class="axis" d="M${left},${top}V${top + height}H${left + width}"/>`,
    text(left + width / 2, SIZE.height - 12, 'evaluations', 'soft', 'middle'),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.width} ${SIZE.height}" width="${SIZE.width}" height="${SIZE.height}" role="img">
  <title>${escaped(`${title}: ${found}`)}</title>
  <style>${STYLE}
  </style>
  <clipPath id="frame"><rect x="${left}" y="${top}" width="${width}" height="${height}"/></clipPath>
  ${parts.join('\n  ')}
</svg>
`;
}

function dot(s: Step, x: number, y: number): string {
  return s.adapting
    ? `<circle class="faint" cx="${x}" cy="${y}" r="2"/>`
    : `<circle class="dot" cx="${x}" cy="${y}" r="2.5"/>`;
}

function scales(r: Result, steps: readonly Step[]) {
  const { left, top, width, height } = FRAME;
  const all = steps.length > 0 ? steps.map(s => s.evaluations) : [1, 10];
  const [least, most] = [Math.min(...all), Math.max(...all)];
  // a single point is drawn in the middle; otherwise the last point keeps a distance of 2 % from the edge
  const [from, to] = least === most ? [least / 2, most * 2] : [least, most * (most / least) ** 0.02];
  const counted = steps.filter(s => !s.adapting);
  const relevant = counted.length > 1 ? counted : steps;
  const late = relevant.slice(Math.floor(relevant.length / 2));
  const furthest = Math.max(...late.map(s => Math.abs(s.value - r.value) + s.error), finite(r.error));
  const reach = furthest > 0 ? furthest : Math.abs(r.value) || 1;
  const [low, high] = [r.value - 1.15 * reach, r.value + 1.15 * reach];
  const yTicks = ticks(low, high);
  const step = yTicks[1] - yTicks[0];
  return {
    x: {
      at: (v: number) => tidy(left + (width * Math.log(v / from)) / Math.log(to / from)),
      ticks: powers(from, to),
    },
    y: {
      // coordinates are limited to ±10,000, which is far outside the frame
      at: (v: number) => tidy(Math.max(-1e4, Math.min(1e4, top + (height * (high - v)) / (high - low)))),
      ticks: yTicks,
      label: (v: number) => labelOf(v, step),
    },
  };
}

const finite = (x: number): number => (Number.isFinite(x) ? x : 0);
const tidy = (x: number): number => Math.round(x * 100) / 100;

/** A label with as many digits as it takes to tell it from its neighbours. */
function labelOf(v: number, step: number): string {
  const size = Math.max(Math.abs(v), Math.abs(step));
  const digits = Math.min(17, Math.max(1, Math.ceil(Math.log10(size / step)) + 1));
  if (Math.abs(v) < step / 1e6) return '0';
  const plain = size >= 1e-4 && size < 1e6;
  return plain ? String(Number(v.toPrecision(digits))) : rounded(v, Math.max(0, digits - 1));
}

/** About five round numbers within a range. */
function ticks(low: number, high: number): number[] {
  const raw = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5, 10].find(m => m * power >= raw) ?? 10);
  const first = Math.ceil(low / step);
  const found: number[] = [];
  for (let i = first; i * step <= high && found.length < 12; i++) found.push(i * step);
  return found.length > 1 ? found : [low, high];
}

/** Powers of ten within a range, or its two ends where there are fewer than two. */
function powers(from: number, to: number): number[] {
  const found: number[] = [];
  const every = Math.max(1, Math.ceil(Math.log10(to / from) / 7));
  for (let p = Math.ceil(Math.log10(from)); 10 ** p <= to; p += every) found.push(10 ** p);
  return found.length > 1 ? found : [from, to];
}

const text = (x: number, y: number, content: string, style: string, anchor = 'start'): string =>
  `<text class="${style}" x="${x}" y="${y}" text-anchor="${anchor}">${escaped(content)}</text>`;

const escaped = (s: string): string =>
  s.replace(/[&<>"']/g, c => `&#${c.charCodeAt(0)};`).replace(/[^\t\n\r -\uD7FF\uE000-\uFFFD]/gu, '');
