/** The cards of this machine. */
import { check, type Driver, loadDriver } from './driver.ts';

export interface CardInfo {
  ordinal: number;
  name: string;
  /** Bytes. */
  memory: number;
  computeCapability: string;
  /** The CUDA version that the driver supports, such as 13.0. */
  driver: string;
  multiprocessors: number;
  /** Bytes of shared memory per block, at most. */
  shared: number;
}

const ATTRIBUTE = { processors: 16, major: 75, minor: 76, sharedOptIn: 97 };

export function listCards(): CardInfo[] {
  const driver = loadDriver();
  return Array.from({ length: countCards(driver) }, (_, ordinal) => infoOf(driver, ordinal));
}

export function countCards(driver: Driver): number {
  return out(driver, p => driver.cuDeviceGetCount(p), 'counting devices')[0];
}

export function infoOf(driver: Driver, ordinal: number): CardInfo {
  const [device] = out(driver, p => driver.cuDeviceGet(p, ordinal), 'looking for a device');
  const name = new Uint8Array(256);
  check(driver, driver.cuDeviceGetName(name, 256, device), 'reading the name of a device');
  const attribute = (a: number) =>
    out(driver, p => driver.cuDeviceGetAttribute(p, a, device), 'asking a device')[0];
  const [memory] = out(driver, p => driver.cuDeviceTotalMem(p, device), 'asking for the memory of a device');
  const version = driverVersion(driver);
  return {
    ordinal,
    name: new TextDecoder().decode(name.subarray(0, name.indexOf(0))),
    memory,
    computeCapability: `${attribute(ATTRIBUTE.major)}.${attribute(ATTRIBUTE.minor)}`,
    driver: `${Math.floor(version / 1000)}.${Math.floor((version % 1000) / 10)}`,
    multiprocessors: attribute(ATTRIBUTE.processors),
    shared: attribute(ATTRIBUTE.sharedOptIn),
  };
}

export function driverVersion(driver: Driver): number {
  return out(driver, p => driver.cuDriverGetVersion(p), "asking for the driver's version")[0];
}

/** The numbers that a call writes through its pointers. */
export function out(
  driver: Driver,
  call: (...pointers: unknown[]) => number,
  doing: string,
  n = 1,
): number[] {
  const pointers = Array.from({ length: n }, () => [0]);
  check(driver, call(...pointers), doing);
  return pointers.map(p => Number(p[0]));
}
