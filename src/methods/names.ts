/** The names of the methods, and for each the member of the options of `integrate` that configures it; `auto` reads several. */

export const FAMILIES = {
  auto: null,
  'vegas+': 'vegas',
  mcubes: 'vegas',
  mcubes1d: 'vegas',
  plain: 'vegas',
  pagani: 'cubature',
  cuhre: 'cubature',
  'two-phase': 'cubature',
  lattice: 'lattice',
  zmc: 'zmc',
} as const;

export type MethodName = keyof typeof FAMILIES;

export const METHOD_NAMES = Object.keys(FAMILIES) as readonly MethodName[];

/** Whether a method refuses devices in float32. */
export const needsFloat64 = (name: MethodName): boolean => name === 'cuhre';
