/** `quadrille workers nats://host`: who is there, and what each does. A terminal shows it live, until Ctrl-C. */
import { type Connected, connect, optionsFromEnvironment } from '../../devices/cluster/connection.ts';
import { nobodyError, who } from '../../devices/cluster/presence.ts';
import { RELEASE, type Worker } from '../../devices/cluster/protocol.ts';
import type { Arguments } from '../arguments.ts';
import { interruptible } from '../interrupt.ts';
import { jsonLine } from '../show/json.ts';
import { columns, count, rounded, time } from '../show/numbers.ts';
import { type Style, styleOf, type Terminal, widthOf } from '../terminal.ts';
import { serverOf } from './worker.ts';

/** Between two pictures, in milliseconds. */
const PERIOD = 1000;

export async function workersCommand(args: Arguments, terminal: Terminal): Promise<number> {
  const { out, env } = terminal;
  const connected = await connect(optionsFromEnvironment(serverOf(args)), 'quadrille workers');
  try {
    if (args.options.has('json')) out.write(jsonLine(await who(connected.nc)));
    else if (out.isTTY && env.TERM !== 'dumb') await live(connected, terminal);
    else {
      const found = await who(connected.nc);
      if (found.length === 0) throw await nobodyError(connected);
      out.write(`${table(found).join('\n')}\n`);
    }
    return 0;
  } finally {
    await connected.close();
  }
}

/** Draws the table anew every second, over the one before. */
async function live({ nc, server, listener }: Connected, { out, env }: Terminal): Promise<void> {
  const interrupt = interruptible();
  const style = styleOf(out, env);
  let drawn = 0;
  let away = false;
  listener.lost = () => {
    away = true;
  };
  listener.back = () => {
    away = false;
  };
  out.write('\x1b[?25l'); // no cursor
  try {
    while (!interrupt.signal.aborted) {
      const found = away ? [] : await who(nc);
      const rows = (out.rows || Infinity) - 1; // the cursor stands below the page
      const lines = (
        away
          ? [`${style.bold(server)}  is out of reach; this page waits for it to come back`]
          : page(found, server, style, rows)
      ).map(l => l.slice(0, widthOf(out) + 20));
      out.write(`${drawn > 0 ? `\x1b[${drawn}A` : ''}${lines.map(l => `\x1b[2K${l}\n`).join('')}\x1b[J`);
      drawn = lines.length;
      await new Promise<void>(done => {
        const timer = setTimeout(done, PERIOD);
        interrupt.signal.addEventListener('abort', () => {
          clearTimeout(timer);
          done();
        });
      });
    }
  } finally {
    out.write('\x1b[?25h');
    interrupt.done();
  }
}

/** Lines of the page around the table: head, two empty ones, the names of the columns, and the last one. */
const AROUND = 5;

/** At most so many rows: what has left the screen cannot be drawn over. Where not all workers have a place, the busy ones are shown. */
function page(found: readonly Worker[], server: string, style: Style, rows: number): string[] {
  const busy = found.filter(w => w.doing).length;
  const rate = found.reduce((sum, w) => sum + (w.doing ? w.rate : 0), 0);
  const head = `${style.bold(server)}  ${found.length} worker${found.length === 1 ? '' : 's'}, ${busy} busy${rate > 0 ? `, ${rounded(rate)} evaluations/s` : ''}`;
  const most = Math.max(1, rows - AROUND);
  const shown = found.length <= most ? found : found.toSorted((a, b) => +!a.doing - +!b.doing).slice(0, most);
  const more = found.length - shown.length;
  const last = `${more > 0 ? `and ${more} more; ` : ''}Ctrl-C ends this page`;
  return found.length > 0
    ? [head, '', ...table(shown), '', style.dim(last)]
    : [head, '', `start some with quadrille worker ${server}`];
}

function table(found: readonly Worker[]): string[] {
  const rows = found.map(w => [
    w.name,
    w.device,
    w.release === RELEASE ? w.release : `${w.release} (not ours)`,
    count(w.parts),
    w.rate > 0 ? `${rounded(w.rate)}/s` : '',
    time(w.uptime),
    w.doing
      ? `task ${w.doing.task}, part ${w.doing.part} of run ${w.doing.run} for ${time(w.doing.ms)}`
      : 'waits',
  ]);
  return columns([['worker', 'device', 'release', 'parts', 'rate', 'up for', 'now'], ...rows], [3, 4]);
}
