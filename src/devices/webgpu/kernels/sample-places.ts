/** How the kernel of samples makes coordinates: of random words in strata, or of words of a lattice, through the map. */
import { ROUNDS } from '../../../random/philox.ts';
import { PRODUCTS } from './numbers.ts';

/**
 * The random words of a sample for group g of four coordinates: Philox4x32-10 with the counter (sample, g, iteration, stream). Of its first
 * two rounds a product belongs to the iteration, and two to the sample: `firstRounds` makes these for all groups. The other rounds are
 * written out where axes are, so that keys are constants of the dispatch; elsewhere they are a loop.
 */
export function drawing(writtenOut: boolean): string {
  const key = (i: string) => `taskWord(KEYS + ${i})`;
  const round = (x: string, y: string) => `let a = product0(c.x);
    let b = product1(c.z);
    c = vec4<u32>(b.x ^ c.y ^ ${x}, b.y, a.x ^ c.w ^ ${y}, a.y);`;
  const rounds = Array.from(
    { length: ROUNDS - 2 },
    (_, k) => `{\n    ${round(key(`${2 * k + 4}u`), key(`${2 * k + 5}u`))}\n  }`,
  );
  return /* wgsl */ `${PRODUCTS}
/** Both words of the first product of a sample, and of the second one. */
fn firstRounds(sample: u32) -> vec4<u32> {
  let one = product0(sample);
  return vec4<u32>(one, product1(one.x ^ taskWord(STREAM) ^ ${key('1u')}));
}

fn drawn(own: vec4<u32>, iterated: vec2<u32>, g: u32) -> vec4<u32> {
  let a = product0(iterated.x ^ g ^ ${key('0u')});
  var c = vec4<u32>(own.z ^ iterated.y ^ ${key('2u')}, own.w, a.x ^ own.y ^ ${key('3u')}, a.y);
  ${
    writtenOut
      ? rounds.join('\n  ')
      : `for (var k = 4u; k < ${2 * ROUNDS}u; k += 2u) {
    ${round(key('k'), key('k + 1u'))}
  }`
  }
  return c;
}
`;
}

/**
 * A coordinate and its factor of the Jacobian, from a random word in a stratum: P = stratum·bins + word·bins/2^32 is in parts of bins, of
 * which a bin has as many as the axis has strata. The bin is ⌊⌊P⌋/strata⌋, by a float32 product instead of an integer division, which takes a
 * GPU some twenty instructions: (⌊P⌋ + 1/2)/strata is at least 1/(2·strata) away from an integer, and rounding moves it by less as long as P
 * is below 2^21.
 */
export function randomPlace(wide: boolean, d: string, number?: number): string {
  const draw = `random = drawn(own4, iterated, (${d} >> 2u) + 256u * sampleHigh);`;
  const place = wide
    ? `let parts = rest[${d}] + highProduct(word, bins);
        let above = parts / axis.x;
        let remainder = parts - above * axis.x;
        let b = bin[${d}] + above;`
    : `let parts = stratum[${d}] * bins + (((word >> 16u) * bins + (((word & 0xffffu) * bins) >> 16u)) >> 16u);
        let b = u32((f32(parts) + 0.5) * bitcast<f32>(axis.w));
        let remainder = parts - b * axis.x;`;
  return /* wgsl */ `${number === undefined ? `if ((d & 3u) == 0u) { ${draw} }` : number % 4 === 0 ? draw : ''}
        let word = random[${d} & 3u];
        ${place}
        let more = axisWords(${d}, 1u);
        let edge = edges[${d} * bins + b];
        let inside = (f32(remainder) + f32(word * bins) * 0x1p-32) * (bitcast<f32>(more.x) * edge.y);
        x[${d}] = clamp(bitcast<f32>(more.y) + (edge.x + inside), bitcast<f32>(axis.y), bitcast<f32>(axis.z));
        let bits = bitcast<u32>(edge.y);`;
}

/** The same from a word of a lattice, through a smooth map. */
export const latticePlace = (
  d: string,
) => /* wgsl */ `var word = lattice[1u + DIMS * (cube + 1u) + ${d}] + sampleLow * lattice[1u + ${d}];
        if (lattice[0] == 1u) { word = (word << 1u) ^ u32(bitcast<i32>(word) >> 31u); }
        let s = f32(word * bins) * 0x1p-32;
        let curve = 2u * (${d} * bins + highProduct(word, bins));
        let first = edges[curve];
        let second = edges[curve + 1u];
        let bent = first.w + s * second.x;
        x[${d}] = clamp(first.x + (first.y + s * (first.z + s * bent)), bitcast<f32>(axis.y), bitcast<f32>(axis.z));
        let bits = bitcast<u32>(second.y * (first.z + s * (bent + bent + s * second.x)));`;

/**
 * The lower end of a stratum in bins, where strata·bins may exceed 32 bits: whole bins, and what is left in parts of the strata, by a
 * division of a number of two words by one.
 */
export const LOWER_END = /* wgsl */ `
fn lowerEnd(stratum: u32, bins: u32, strata: u32) -> vec2<u32> {
  let high = highProduct(stratum, bins);
  let low = stratum * bins;
  var rest = 0u;
  var result = 0u;
  for (var i = 63; i >= 0; i--) {
    let digit = select(low >> u32(i), high >> u32(i - 32), i >= 32) & 1u;
    let above = rest >> 31u;
    rest = (rest << 1u) | digit;
    result = result << 1u;
    if (above == 1u || rest >= strata) {
      rest -= strata;
      result |= 1u;
    }
  }
  return vec2<u32>(result, rest);
}
`;
