/**
 * A bare page: an integrand to edit, a button for the CPU and one for the GPU, and the result. Everything happens in the page; there is
 * no server. `npx vite examples/page` serves it, in a clone of this repository.
 */
import { integrate } from 'quadrille';

const element = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
const [text, dims, tolerance, shown, stop] = [
  element<HTMLTextAreaElement>('integrand'),
  element<HTMLInputElement>('dims'),
  element<HTMLInputElement>('tolerance'),
  element('result'),
  element<HTMLButtonElement>('stop'),
];
const buttons = ['cpu', 'webgpu'].map(device => [device, element<HTMLButtonElement>(device)] as const);

async function run(device: string): Promise<void> {
  const aborting = new AbortController();
  stop.onclick = () => aborting.abort();
  for (const [, button] of buttons) button.disabled = true;
  stop.disabled = false;
  shown.textContent = 'integrating…';
  try {
    // the person at this page is the one who wrote the text
    const f = new Function(`return (${text.value});`)();
    const result = await integrate(f, {
      dims: Number(dims.value),
      relTol: Number(tolerance.value),
      device,
      signal: aborting.signal,
      onProgress: ({ value, error, evaluations }) => {
        shown.textContent = `${value} ± ${error} after ${evaluations} evaluations…`;
      },
    });
    shown.textContent = [`${result}`, result.status, ...result.warnings].join('\n');
  } catch (e) {
    shown.textContent = String(e);
  } finally {
    for (const [, button] of buttons) button.disabled = false;
    stop.disabled = true;
  }
}

for (const [device, button] of buttons) button.onclick = () => run(device);
