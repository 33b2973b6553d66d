/** How the kernel of samples makes coordinates: of random words in strata, or of words of a lattice, through the map. */

/**
 * A coordinate and its factor of the Jacobian, from a random word in a stratum. The quotient comes from float32 and is put right by
 * its remainder: an integer division takes a GPU some twenty instructions, for each coordinate.
 */
export function randomPlace(wide: boolean, d: string, number?: number): string {
  const draw = `random = philox(vec4<u32>(sampleLow, (${d} >> 2u) + 256u * sampleHigh, taskWord(ITERATION), taskWord(STREAM)), key);`;
  const parts = wide
    ? `let parts = rest[${d}] + highProduct(word, bins);
        let above = parts / axis.x;
        let remainder = parts - above * axis.x;`
    : `let parts = rest[${d}] + (((word >> 16u) * bins + (((word & 0xffffu) * bins) >> 16u)) >> 16u);
        var above = u32(f32(parts) * bitcast<f32>(axis.w));
        var remainder = parts - above * axis.x;
        if (bitcast<i32>(remainder) < 0) {
          above--;
          remainder += axis.x;
        } else if (remainder >= axis.x) {
          above++;
          remainder -= axis.x;
        }`;
  return /* wgsl */ `${number === undefined ? `if ((d & 3u) == 0u) { ${draw} }` : number % 4 === 0 ? draw : ''}
        let word = random[${d} & 3u];
        // (rest + word·bins/2^32)/strata bins above
        ${parts}
        let b = min(bin[${d}] + above, bins - 1u);
        let fraction = (f32(remainder) + f32(word * bins) * 0x1p-32) * bitcast<f32>(axis.w);
        let edge = edges[${d} * bins + b];
        x[${d}] = clamp(edge.x + (edge.y + fraction * edge.z), bitcast<f32>(axis.y), bitcast<f32>(axis.z));
        jacobian *= edge.w;`;
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
        jacobian *= second.y * (first.z + s * (bent + bent + s * second.x));`;

/** The lower end of a stratum in bins: whole bins, and what is left in parts of the strata. */
export const LOWER_END = /* wgsl */ `
fn lowerEnd(stratum: u32, bins: u32, strata: u32) -> vec2<u32> {
  let parts = stratum * bins;
  return vec2<u32>(parts / strata, parts % strata);
}
`;

/** The same where strata·bins exceeds 32 bits: a quotient of a number of two words, by one. */
export const WIDE_LOWER_END = /* wgsl */ `
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
