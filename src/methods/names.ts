/** The methods by their names: what each is, and which family of options configures it. */
interface Method {
  name: string;
  /** The member of the options of `integrate` that configures it; `auto` reads several. */
  family: string | null;
  words: string;
}

export const METHODS = [
  {
    name: 'auto',
    family: null,
    words: 'runs pagani and vegas+ in turns until one of them reaches the tolerance',
  },
  { name: 'vegas+', family: 'vegas', words: 'VEGAS with adaptive stratified sampling' },
  { name: 'mcubes', family: 'vegas', words: 'm-Cubes: VEGAS with the same number of samples in each cube' },
  {
    name: 'mcubes1d',
    family: 'vegas',
    words: 'm-Cubes with one map for all axes, for integrands that are the same in every coordinate',
  },
  { name: 'plain', family: 'vegas', words: 'Monte Carlo without adaptation' },
  { name: 'pagani', family: 'cubature', words: 'adaptive cubature that halves many regions at a time' },
  {
    name: 'cuhre',
    family: 'cubature',
    words: 'adaptive cubature that halves the region with the largest error',
  },
  {
    name: 'two-phase',
    family: 'cubature',
    words: 'adaptive cubature: halves all regions first, then each processor continues with its own',
  },
  { name: 'zmc', family: 'zmc', words: 'stratified sampling with a heuristic tree search' },
] as const satisfies readonly Method[];

export type MethodName = (typeof METHODS)[number]['name'];

export const METHOD_NAMES: readonly MethodName[] = METHODS.map(m => m.name);
