/**
 * What help and completion say of options, methods and devices, in a few words each. It stands apart from their tables because pages
 * load those.
 */
import type { DEVICES } from '../devices/registry.ts';
import type { MethodName } from '../methods/names.ts';
import type { INTEGRATE_OPTIONS } from '../problem.ts';

/** Options of the library that can be typed. Families of options have one text for all (options.ts). */
export const OPTION_WORDS: { readonly [name in keyof typeof INTEGRATE_OPTIONS]?: string } = {
  dims: 'integrate over the unit cube of N dimensions (integrands from files)',
  method: 'the method, see below',
  device: 'the device, or several: cuda:0,cuda:1; see below',
  relTol: 'relative error to reach',
  absTol: 'absolute error that is small enough as well',
  covariance: 'covariances of more than 16 results: passes (of 16 each), or all',
  maxEvaluations: 'stop after N evaluations of the integrand',
  maxIterations: 'stop after N iterations',
  maxTime: 'stop after 10s, 2min, or 500, which is in ms',
  seed: 'the same seed gives the same digits',
  onNonFinite: 'what to do about NaN and infinities: error stops, zero counts them as 0',
  check: 'compare the compiled integrand with the function itself before the run',
};

export const METHOD_WORDS: { readonly [name in MethodName]: string } = {
  auto: 'runs pagani and vegas+ in turns until one of them reaches the tolerance',
  'vegas+': 'VEGAS with adaptive stratified sampling',
  mcubes: 'm-Cubes: VEGAS with the same number of samples in each cube',
  mcubes1d: 'm-Cubes with one map for all axes, for integrands that are the same in every coordinate',
  plain: 'Monte Carlo without adaptation',
  pagani: 'adaptive cubature that halves many regions at a time',
  cuhre: 'adaptive cubature that halves the region with the largest error',
  'two-phase': 'adaptive cubature: halves all regions first, then each processor continues with its own',
  lattice: 'lattices of points with random shifts, through a map that VEGAS learns',
  zmc: 'stratified sampling with a heuristic tree search',
};

export const DEVICE_WORDS: { readonly [kind in (typeof DEVICES)[number]['kind']]: string } = {
  auto: 'the CPU, or for budgets from 1e10 evaluations on a CUDA device, in a page WebGPU if relTol is 1e-4 or more',
  cpu: 'every core; cpu:3 has three workers',
  cuda: 'the first CUDA device; cuda:1 is the second one, cuda:* all of them together',
  webgpu: 'the GPU of a page, or any GPU with the package webgpu, in float32',
  js: 'the function as it is, not compiled, on every core',
  nats: 'nats://host: the workers of a cluster, which quadrille worker nats://host starts',
};
