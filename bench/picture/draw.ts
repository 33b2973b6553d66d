/** Draws the runs as SVG, once for light pages and once for dark ones. Widths and places are in units of the view box. */
import type { Region, Runs, Sampled } from './runs.ts';

interface Theme {
  ink: string;
  soft: string;
  line: string;
  panel: string;
  map: string;
  region: string;
  plain: string;
}

const LIGHT: Theme = {
  ink: '#1f2328',
  soft: '#656d76',
  line: '#d8dee4',
  panel: '#f6f8fa',
  map: '#1f6feb',
  region: '#d9480f',
  plain: '#8c959f',
};
const DARK: Theme = {
  ink: '#e6edf3',
  soft: '#8d96a0',
  line: '#30363d',
  panel: '#12161c',
  map: '#6ea8fe',
  region: '#ff9a5c',
  plain: '#6e7681',
};

const SIZE = { width: 1000, height: 408 };
const SQUARE = { side: 150, gap: 14, left: 4, top: 30, below: 54 };
const CHART = { left: 576, top: 30, width: 372, height: 354 };
/** Sample points that are drawn in a square. */
const DOTS = 1100;
/** Iterations of vegas+ and lists of regions that are shown, from 0. */
const SHOWN = { map: [0, 2, 8], regions: [5, 10, 22] };

export function draw(runs: Runs): { light: string; dark: string } {
  return { light: picture(runs, LIGHT), dark: picture(runs, DARK) };
}

function picture({ sampled, regions, curves }: Runs, theme: Theme): string {
  const rows = [
    caption(0, 'vegas+', theme.map, 'learns a map: its samples gather where the integrand is'),
    ...SHOWN.map.map((k, column) =>
      square(column, 0, theme, samplesIn(sampled[k], theme), k === 0 ? 'before learning' : `iteration ${k}`),
    ),
    caption(1, 'pagani', theme.region, 'halves regions where its error is large'),
    ...SHOWN.regions.map((k, column) =>
      square(column, 1, theme, regionsIn(regions[k], theme), `${regions[k].length} regions`),
    ),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.width} ${SIZE.height}" width="${SIZE.width}" height="${SIZE.height}" role="img">
<title>A narrow arc, found by the map of vegas+ and by the regions of pagani; their errors against evaluations</title>
<style>text{font:13px system-ui,-apple-system,'Segoe UI',sans-serif;fill:${theme.soft}}.name{font-weight:600}.small{font-size:11px}path,line{fill:none}</style>
${rows.join('\n')}
${chart(curves, theme)}
</svg>
`;
}

const leftOf = (column: number) => SQUARE.left + column * (SQUARE.side + SQUARE.gap);
const topOf = (row: number) => SQUARE.top + row * (SQUARE.side + SQUARE.below);

function caption(row: number, name: string, colour: string, rest: string): string {
  return `<text x="${SQUARE.left}" y="${topOf(row) - 14}"><tspan class="name" style="fill:${colour}">${name}</tspan> ${rest}</text>`;
}

/** A square in which y goes up. */
function square(column: number, row: number, { panel, line }: Theme, content: string, below: string): string {
  const [x, y] = [leftOf(column), topOf(row)];
  const { side } = SQUARE;
  return [
    `<g transform="translate(${x} ${y})"><rect width="${side}" height="${side}" fill="${panel}"/>${content}<rect width="${side}" height="${side}" fill="none" stroke="${line}"/></g>`,
    `<text class="small" x="${x}" y="${y + side + 15}">${below}</text>`,
  ].join('');
}

const at = (u: number): string => tidy(u * SQUARE.side);
const up = (u: number): string => tidy((1 - u) * SQUARE.side);

function samplesIn({ edges, points }: Sampled, { map }: Theme): string {
  const { side } = SQUARE;
  const lines = [...edges[0].map(x => `M${at(x)} 0V${side}`), ...edges[1].map(y => `M0 ${up(y)}H${side}`)];
  // spread over all of them by the golden ratio: every tenth of a list that goes from cube to cube would lie in stripes
  const shown = points.filter((_, i) => (i * 0.6180339887) % 1 < DOTS / points.length);
  const dots = shown.map(([x, y]) => `M${at(x)} ${up(y)}h0`);
  return `<path stroke="${map}" stroke-opacity=".32" stroke-width=".6" d="${lines.join('')}"/><path stroke="${map}" stroke-opacity=".75" stroke-width="1.5" stroke-linecap="round" d="${dots.join('')}"/>`;
}

function regionsIn(regions: readonly Region[], { region }: Theme): string {
  const most = Math.max(...regions.map(r => r.mean));
  const rects = regions.map(({ centre, half, mean }) => {
    const box = `x="${at(centre[0] - half[0])}" y="${up(centre[1] + half[1])}" width="${at(2 * half[0])}" height="${at(2 * half[1])}"`;
    return `<rect ${box} fill-opacity="${tidy(0.75 * Math.sqrt(Math.max(0, mean) / most))}"/>`;
  });
  return `<g fill="${region}" stroke="${region}" stroke-opacity=".55" stroke-width=".5">${rects.join('')}</g>`;
}

/** The relative error against the evaluations, both logarithmic. */
function chart(curves: Runs['curves'], theme: Theme): string {
  const { left, top, width, height } = CHART;
  const [fewest, most, largest, smallest] = [3, 6.5, 0, -9]; // powers of ten
  const x = (n: number) => left + ((Math.log10(n) - fewest) / (most - fewest)) * width;
  const y = (e: number) => top + ((largest - Math.log10(e)) / (largest - smallest)) * height;
  const colours: Record<string, string> = { pagani: theme.region, 'vegas+': theme.map, plain: theme.plain };
  const parts = [
    `<text x="${left}" y="${top - 14}"><tspan class="name" style="fill:${theme.ink}">relative error</tspan> against evaluations</text>`,
  ];
  for (let p = largest; p >= smallest; p -= 3)
    parts.push(
      `<line stroke="${theme.line}" x1="${left}" x2="${left + width}" y1="${tidy(y(10 ** p))}" y2="${tidy(y(10 ** p))}"/>`,
      `<text class="small" text-anchor="end" x="${left - 8}" y="${tidy(y(10 ** p) + 4)}">${power(p)}</text>`,
    );
  for (let p = fewest; p <= most; p++)
    parts.push(
      `<text class="small" text-anchor="middle" x="${tidy(x(10 ** p))}" y="${top + height + 16}">${power(p)}</text>`,
    );
  for (const { name, points } of curves) {
    const shown = points.filter(p => p.error <= 1 && p.error >= 10 ** smallest);
    const places = shown.map(p => [tidy(x(p.evaluations)), tidy(y(p.error))]);
    const [lastX, lastY] = places[places.length - 1];
    parts.push(
      `<path stroke="${colours[name]}" stroke-width="1.8" stroke-linejoin="round" d="M${places.map(p => p.join(' ')).join('L')}"/>`,
      `<path stroke="${colours[name]}" stroke-width="4.5" stroke-linecap="round" d="${places.map(p => `M${p.join(' ')}h0`).join('')}"/>`,
      `<text class="name" style="fill:${colours[name]}" x="${Number(lastX) + 8}" y="${Number(lastY) + 4}">${name === 'plain' ? 'plain' : name}</text>`,
    );
  }
  return parts.join('\n');
}

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';
const power = (p: number): string =>
  p === 0
    ? '1'
    : `10${p < 0 ? '⁻' : ''}${[...String(Math.abs(p))].map(d => SUPERSCRIPTS[Number(d)]).join('')}`;

const tidy = (v: number): string => String(Math.round(v * 10) / 10);
