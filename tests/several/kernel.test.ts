/** Scalar integrands lose nothing: the kernel that samples them is, to the byte, what it was before there were several results. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { kernelModule } from '../../src/devices/cpu/kernel.ts';
import { kernelLayout } from '../../src/devices/cpu/layout.ts';

test.each([
  [1, 1024, 'a25bdb2ca057da191ac6ce937b5654f7c3e72a4e1030b64725c4d531020ad6e4'],
  [3, 1024, 'bc23cf05807f33735b3461f117a17a50077d236936159ee97372c3bda3974852'],
  [8, 4096, 'fcd5cae189d58492911e1dca5797a7fc04ded8720af37d59f3b8ede5c7204c34'],
])(
  'the kernel for one result in %i dimensions and %i bins has the bytes that it had',
  (dims, bins, digest) => {
    const values = dims * 256 * 8;
    const layout = kernelLayout(dims, 256, bins, 2 ** 15, 0, values, values + 256 * 8);
    expect(createHash('sha256').update(kernelModule(layout)).digest('hex')).toBe(digest);
  },
);
