/** `quadrille devices`: lists the devices of this machine, by the names that --device takes. */
import { devices } from '../../devices/list.ts';
import type { Arguments } from '../arguments.ts';
import { jsonLine } from '../show/json.ts';
import { columns } from '../show/numbers.ts';
import type { Terminal } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';

export async function devicesCommand({ rest, options }: Arguments, { out }: Terminal): Promise<number> {
  if (rest.length > 0)
    throw new UsageError(`quadrille devices takes no '${rest[0]}'.`, 'Write quadrille devices.');
  const found = await devices();
  if (options.has('json')) out.write(jsonLine(found));
  else for (const row of columns(found.map(d => [d.name, d.description]))) out.write(`${row}\n`);
  return 0;
}
