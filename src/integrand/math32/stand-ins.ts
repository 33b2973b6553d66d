/** Functions whose float32 versions are not written yet: WGSL's own, or a plain formula. */
const unary = (name: string, value: string) => [
  `q_${name}`,
  `fn q_${name}(x: f32) -> f32 { return ${value}; }`,
];
const binary = (name: string, value: string) => [
  `q_${name}`,
  `fn q_${name}(x: f32, y: f32) -> f32 { return ${value}; }`,
];
const own = [
  'sqrt',
  'floor',
  'ceil',
  'trunc',
  'exp',
  'exp2',
  'log',
  'log2',
  'sin',
  'cos',
  'tan',
  'asin',
  'acos',
];
own.push('atan', 'sinh', 'cosh', 'tanh', 'asinh', 'acosh', 'atanh');
export const STAND_INS: Record<string, string> = Object.fromEntries([
  ...own.map(name => unary(name, `${name}(x)`)),
  unary('nearest', 'round(x)'),
  unary('pow2', 'bitcast<f32>(u32(i32(x) + 127) << 23u)'),
  unary('exponent', 'f32(i32((bitcast<u32>(x) >> 23u) & 0xffu) - 127)'),
  unary('significand', 'bitcast<f32>((bitcast<u32>(x) & 0x7fffffu) | 0x3f800000u)'),
  unary('high', 'q_top(x)'),
  unary('expm1', 'exp(x) - 1.0f'),
  unary('log1p', 'log(1.0f + x)'),
  unary('log10', 'log(x) * 0.4342945f'),
  unary('cbrt', 'sign(x) * pow(abs(x), 1.0f / 3.0f)'),
  unary('round', 'floor(x + 0.5f)'),
  unary('sign', 'sign(x)'),
  unary('fround', 'x'),
  unary('clz32', 'f32(countLeadingZeros(u32(x)))'),
  unary('erf', '1.0f - exp(-x * x)'),
  unary('erfc', 'exp(-x * x)'),
  unary('erfinv', 'x'),
  unary('lgamma', 'x * log(x) - x'),
  unary('j0', 'cos(x)'),
  unary('j1', 'sin(x)'),
  binary('pow', 'pow(x, y)'),
  binary('atan2', 'atan2(x, y)'),
  binary('hypot', 'sqrt(x * x + y * y)'),
  binary('mod', 'x % y'),
  binary('imul', 'f32(i32(x) * i32(y))'),
]);
