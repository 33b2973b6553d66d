/** Scalar integrands lose nothing: the kernel that samples them is, to the byte, what it was before there were several results, but for the samples that the histogram leaves out. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { kernelModule } from '../../src/devices/cpu/kernel.ts';
import { kernelLayout } from '../../src/devices/cpu/layout.ts';

test.each([
  [1, 1024, 'f5aa9972a7c212dcd248baa2f723da61b173381be216e183ed0eaccccf7ba7b5'],
  [3, 1024, '3f54ee966abe021695eee9d28f940ec7fb553eeb5aa8039d6d36f7bc3f8c7fb2'],
  [8, 4096, '83c91ccd8faf0640d4850f5cfdf6faa704ab2a19d7c11a79256a719fe44cb219'],
])(
  'the kernel for one result in %i dimensions and %i bins has the bytes that it had',
  (dims, bins, digest) => {
    const values = dims * 256 * 8;
    const layout = kernelLayout(dims, 256, bins, 2 ** 15, 0, values, values + 256 * 8);
    expect(createHash('sha256').update(kernelModule(layout)).digest('hex')).toBe(digest);
  },
);
