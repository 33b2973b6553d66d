/** The device suite on the CPU, alone and as two devices that share the work. */
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import { Spread } from '../../src/devices/spread.ts';
import { runSuite } from './run-suite.ts';

runSuite('cpu', () => ({ device: new CpuDevice(2) }));
runSuite('two cpus as one', () => ({ device: new Spread([new CpuDevice(1), new CpuDevice(1)]) }));
