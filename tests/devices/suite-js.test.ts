/** The device suite on functions as they are. */
import { JsDevice } from '../../src/devices/js/js.ts';
import { runSuite } from './run-suite.ts';

runSuite('js', () => ({ device: new JsDevice(2), plain: true }));
