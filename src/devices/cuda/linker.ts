/** The driver's linker: makes one module of several relocatable units in machine code, in a millisecond or two. */
import { CudaError, type Driver, errorText, fixedMemory } from './driver.ts';

const CUBIN = 0; // CU_JIT_INPUT_CUBIN
const ERROR_LOG = 5; // CU_JIT_ERROR_LOG_BUFFER
const ERROR_LOG_BYTES = 6; // CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES
const LOG_BYTES = 4096;
const VALUES_BYTES = 16;

/** The values of the two options, and the log. The driver writes to both until the linker is destroyed, so they must not move. */
let fixed: ReturnType<typeof fixedMemory> | null = null;

/** Links the units and loads what they make into the current context; the module's handle. */
export function loadLinked(driver: Driver, images: readonly Uint8Array[]): number {
  fixed ??= fixedMemory(VALUES_BYTES + LOG_BYTES);
  const { memory, address } = fixed;
  new Uint8Array(memory).fill(0);
  new BigUint64Array(memory, 0, 2).set([address + BigInt(VALUES_BYTES), BigInt(LOG_BYTES)]);
  const options = Int32Array.of(ERROR_LOG, ERROR_LOG_BYTES);
  const state = [0];
  expect(driver, driver.cuLinkCreate(options.length, options, address, state));
  try {
    images.forEach((image, i) => {
      const add = () =>
        driver.cuLinkAddData(state[0], CUBIN, image, image.length, `part ${i}`, 0, null, null);
      expect(driver, add());
    });
    const [linked, bytes, module] = [[0], [0], [0]];
    expect(driver, driver.cuLinkComplete(state[0], linked, bytes));
    // the image belongs to the linker, so it is loaded first
    expect(driver, driver.cuModuleLoadLinked(module, linked[0]));
    return Number(module[0]);
  } finally {
    driver.cuLinkDestroy(state[0]);
  }
}

function expect(driver: Driver, status: number): void {
  if (status === 0) return;
  const text = new TextDecoder().decode(new Uint8Array(fixed!.memory, VALUES_BYTES).slice());
  const why = text.replace(/\0.*$/s, '').trim();
  throw new CudaError(
    `the driver could not link a kernel: ${errorText(driver, status)}${why && `; ${why}`}`,
    status,
  );
}
