/**
 * A worker process for tests: node worker.mjs URL NAME MODE. It runs what `quadrille worker` runs, on one thread; some modes
 * have a device that misbehaves.
 */
import { optionsFromEnvironment } from '../../src/devices/cluster/connection.ts';
import { work } from '../../src/devices/cluster/worker.ts';
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import { type Device, DeviceError, type Session } from '../../src/devices/device.ts';
import { solveWholes } from '../../src/whole-integrals.ts';

const [, , servers, name, mode] = process.argv;

const wait = (ms: number) => new Promise<void>(done => setTimeout(done, ms));

/** What is done to the sums of every part. */
const MODES: Record<string, (sums: { nodes?: Float64Array; values?: Float64Array }) => Promise<void>> = {
  right: async () => {},
  /** A part takes 200 ms, whatever it is, and the processor is idle: many kills cost little. */
  slow: () => wait(200),
  /** Much slower than others. */
  late: () => wait(60_000),
  /** The last bit of a sum is wrong. */
  wrong: async ({ nodes, values }) => {
    const list = (nodes ?? values)!;
    new DataView(list.buffer, list.byteOffset).setUint8(
      0,
      new DataView(list.buffer, list.byteOffset).getUint8(0) ^ 1,
    );
  },
  /** It allows few evaluations. */
  limited: async () => {},
  /** A card that fails. */
  broken: async () => {
    throw new DeviceError('the card has fallen off the bus');
  },
};

function spoiled(device: Device): Device {
  const spoil = MODES[mode];
  const own = (session: Session): Session => {
    const changed = async <T extends object>(work: Promise<T>) => {
      const sums = await work;
      await spoil(sums);
      return sums;
    };
    return {
      description: session.description,
      sample: (...a) => changed(session.sample(...a)),
      regions: (...a) => changed(session.regions(...a)),
      witness: (...a) => changed(session.witness(...a)),
      rebind: p => session.rebind(p),
      close: () => session.close(),
    };
  };
  return {
    name: device.name,
    kind: device.kind,
    epsilon: device.epsilon,
    open: async (...a) => own(await device.open(...a)),
    close: () => device.close(),
  };
}

await work({
  ...optionsFromEnvironment(servers),
  name,
  device: spoiled(new CpuDevice(1)),
  solve: solveWholes,
  limits: mode === 'limited' ? { evaluations: 1000 } : {},
  log: text => process.stdout.write(`${text}\n`),
}).catch(e => process.stdout.write(`ended: ${e.message}\n`));
process.exit();
