/** The device suite on every device: cpu, js, cuda (a card where there is one, otherwise the emulator), and the example. */
import { afterAll, describe, test } from 'vitest';
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import { CudaDevice } from '../../src/devices/cuda/cuda.ts';
import { JsDevice } from '../../src/devices/js/js.ts';
import { Spread } from '../../src/devices/spread.ts';
import { absent } from '../cuda/emulated.ts';
import { ExampleDevice } from './example.ts';
import { SUITE, type Tried } from './suite.ts';

const DEVICES: Record<string, () => Tried> = {
  cpu: () => ({ device: new CpuDevice(2) }),
  js: () => ({ device: new JsDevice(2), plain: true }),
  cuda: () => ({ device: new CudaDevice(0) }),
  example: () => ({ device: new ExampleDevice() }),
  'two cpus as one': () => ({ device: new Spread([new CpuDevice(1), new CpuDevice(1)]) }),
  'two cards as one': () => ({ device: new Spread([new CudaDevice(0), new CudaDevice(1)]) }),
};

describe.each(Object.keys(DEVICES))('%s', name => {
  let tried: Tried | null = null;
  afterAll(() => tried?.device.close());
  test.skipIf(absent && /cuda|card/.test(name)).each(SUITE.map(c => [c.name, c] as const))(
    '%s',
    async (_, check) => {
      tried ??= DEVICES[name]();
      await check.run(tried);
    },
  );
});
