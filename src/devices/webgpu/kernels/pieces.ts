/** How the samples of cubes are cut into pieces (tasks/pieces.ts), for kernels. */
import { PIECE } from '../../../tasks/pieces.ts';

export const PIECES = /* wgsl */ `
fn piecesOf(n: u32) -> u32 { return (n + ${PIECE - 1}u) / ${PIECE}u; }

/** The first sample of piece j of a cube with n samples: the last piece but one lends two where a single one would be left. */
fn startOf(j: u32, n: u32) -> u32 {
  let start = ${PIECE}u * j;
  return select(min(start, n), start - 2u, j > 0u && n == start + 1u);
}

/** The first piece of a cube with n samples that does not begin before sample \`offset\`; the number of pieces when there is none. */
fn pieceFrom(offset: u32, n: u32) -> u32 {
  let pieces = piecesOf(n);
  let last = startOf(pieces - 1u, n);
  return select(min(pieces - 1u, (offset + ${PIECE - 1}u) / ${PIECE}u), pieces, offset > last);
}
`;
