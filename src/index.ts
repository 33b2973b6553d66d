/** What a user imports. */
export { type DeviceInfo, devices } from './devices/registry.ts';
export {
  type Compiled,
  type CompileOptions,
  compile,
  type Integrand,
  type SpecialFunctions,
} from './integrand/compile.ts';
export { IntegrandError } from './integrand/diagnostics.ts';
export type { Params } from './integrand/params.ts';
export { type Table, type TableOptions, table } from './integrand/tables.ts';
export { integrate } from './integrate.ts';
export type { CubatureOptions } from './methods/cubature/options.ts';
export type { VegasOptions } from './methods/vegas/options.ts';
export type { ZmcOptions } from './methods/zmc/options.ts';
export { OptionError } from './options/option-error.ts';
export type { IntegrateOptions, Progress } from './problem.ts';
export type { IterationRecord, Result, Status } from './result.ts';
export { type ScanOptions, scan } from './scan.ts';
