/** The device suite on the example of a device. */
import { ExampleDevice } from './example.ts';
import { runSuite } from './run-suite.ts';

runSuite('example', () => ({ device: new ExampleDevice() }));
