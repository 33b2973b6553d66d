/** The device suite on an emulated card; bench/gpu/suite.ts runs it on a real one. */
import { CudaDevice } from '../../src/devices/cuda/cuda.ts';
import { absent } from '../cuda/emulated.ts';
import { runSuite } from './run-suite.ts';

runSuite('cuda', () => ({ device: new CudaDevice(0) }), absent);
