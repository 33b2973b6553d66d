/** The public names of the library. */
export { type ClusterOptions, cluster } from './devices/cluster/cluster.ts';
export { type Device, DeviceError, type OpenOptions, type Session } from './devices/device.ts';
export { type DeviceInfo, devices } from './devices/list.ts';
export type { DomainOption } from './domain-options.ts';
export type { ResultName } from './goals.ts';
export type { HistogramOptions } from './histogram-options.ts';
export type { Histogram } from './histograms.ts';
export type { BoundProgram, CompiledProgram, PlainProgram } from './integrand/bound.ts';
export {
  type Compiled,
  type CompileOptions,
  compile,
  type Integrand,
  type IntegrandOf,
  type NoParams,
  type ParamsOf,
  type Point,
  type SpecialFunctions,
} from './integrand/compile.ts';
export { IntegrandError } from './integrand/diagnostics.ts';
export type { DomainPart, Range, RangeOptions } from './integrand/domain.ts';
export type { BoundsFunction } from './integrand/function-bounds.ts';
export type { Params } from './integrand/params.ts';
export type { ResultShape, ResultValue, Shape } from './integrand/shape.ts';
export { ball, type DomainShape, type ShapeOptions, simplex, sphere } from './integrand/shapes.ts';
export { type Table, type TableOptions, table } from './integrand/tables.ts';
export { type DeviceFor, integrate, type Returned } from './integrate.ts';
export type { CubatureOptions } from './methods/cubature/options.ts';
export type { LatticeOptions } from './methods/lattice/options.ts';
export type { VegasOptions } from './methods/vegas/options.ts';
export type { ZmcOptions } from './methods/zmc/options.ts';
export type { OfResults } from './of-results.ts';
export { OptionError } from './options/option-error.ts';
export type { CommonOptions, IntegrateOptions, Progress, Where } from './problem.ts';
export type { LatticeWords } from './random/lattice.ts';
export { type IterationRecord, Result, type Status } from './result.ts';
export { type CommonSampleOptions, type SampleOptions, type Samples, sample } from './sample.ts';
export { type CommonScanOptions, type ScanOptions, scan } from './scan.ts';
export type { State } from './state.ts';
export type { CountsWindow } from './tasks/counts-window.ts';
export { type EvaluatePoints, evaluatorOf } from './tasks/evaluate.ts';
export type { IntegralList, Neighbours, ResultMembers, SolvedIntegral } from './tasks/integrals.ts';
export type { Learning, Refinement } from './tasks/learning.ts';
export type { Kept, NonFinite, Part } from './tasks/part.ts';
export { regionPoints, samplePoints, witnessPoints } from './tasks/pointwise-loaded.ts';
export type { PoolStep, PoolSums, PoolTask, RegionPool, Tolerance } from './tasks/pool/pool.ts';
export type { Ranges, RegionSums, RegionTask } from './tasks/region.ts';
export type { RuleName } from './tasks/rules.ts';
export type {
  Adapt,
  AxisMap,
  Counts,
  CubeSums,
  LatticePoints,
  PartSums,
  SampleSums,
  SampleTask,
} from './tasks/sample.ts';
export type { WitnessSums, WitnessTask } from './tasks/witness.ts';
