/**
 * What a device by its URL needs, loaded when one is named. A file of its own: bundlers warn of modules that are imported both at once,
 * as `cluster` is from the index, and on demand.
 */
export { cluster } from './cluster.ts';
export { optionsFromEnvironment } from './connection.ts';
