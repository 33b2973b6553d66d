/** The device suite on two emulated cards that share the work. */
import { CudaDevice } from '../../src/devices/cuda/cuda.ts';
import { Spread } from '../../src/devices/spread.ts';
import { absent } from '../cuda/emulated.ts';
import { runSuite } from './run-suite.ts';

runSuite('two cards as one', () => ({ device: new Spread([new CudaDevice(0), new CudaDevice(1)]) }), absent);
