/** Kernels on disk: which files are used, and that a cache which cannot be used costs nothing but time. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os, { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { cacheFolder, readKernel, writeKernel } from '../../src/devices/cuda/kernel-cache.ts';

const key = createHash('sha256').update('a kernel').digest('hex');
const other = createHash('sha256').update('another kernel').digest('hex');
const image = Uint8Array.from({ length: 5000 }, (_, i) => i * 7);
const pathOf = (k: string) => join(cacheFolder()!, `${k}.cubin`);

let base: string;
beforeEach(() => {
  base = fs.mkdtempSync(join(tmpdir(), 'kernel-cache-'));
  vi.stubEnv('XDG_CACHE_HOME', base);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  fs.rmSync(base, { recursive: true, force: true });
});

test('a kernel that was written is read; its folder is for this user alone', () => {
  expect(readKernel(key)).toBe(null);
  writeKernel(key, image);
  expect(readKernel(key)).toEqual(image);
  expect(fs.readdirSync(cacheFolder()!)).toEqual([`${key}.cubin`]);
  if (process.platform === 'win32') return;
  expect(fs.statSync(cacheFolder()!).mode & 0o777).toBe(0o700);
  expect(fs.statSync(pathOf(key)).mode & 0o777).toBe(0o600);
});

describe('a file is ignored, and rewritten, that', () => {
  const bytes = () => fs.readFileSync(pathOf(key));
  test.each<[string, () => void]>([
    ['is empty', () => fs.writeFileSync(pathOf(key), '')],
    ['has a digest and nothing else', () => fs.writeFileSync(pathOf(key), bytes().subarray(0, 32))],
    ['is cut off', () => fs.truncateSync(pathOf(key), 4000)],
    ['has one bit changed', () => fs.writeFileSync(pathOf(key), bytes().fill(bytes()[3000] ^ 1, 3000, 3001))],
    ['is longer', () => fs.appendFileSync(pathOf(key), 'x')],
    [
      'is the sound file of another kernel',
      () => {
        writeKernel(other, Uint8Array.of(1, 2, 3));
        fs.copyFileSync(pathOf(other), pathOf(key));
      },
    ],
    [
      'is a link to a sound one',
      () => {
        fs.renameSync(pathOf(key), join(base, 'elsewhere'));
        fs.symlinkSync(join(base, 'elsewhere'), pathOf(key));
      },
    ],
    ['others may write', () => fs.chmodSync(pathOf(key), 0o666)],
  ])('%s', (_, harm) => {
    writeKernel(key, image);
    harm();
    expect(readKernel(key)).toBe(null);
    writeKernel(key, image);
    expect(readKernel(key)).toEqual(image);
  });
  test('belongs to somebody else', () => {
    writeKernel(key, image);
    const { fstatSync } = fs;
    vi.spyOn(fs, 'fstatSync').mockImplementation(((file: number) =>
      Object.assign(fstatSync(file), { uid: 12345 })) as never);
    expect(readKernel(key)).toBe(null);
  });
});

describe('a folder', () => {
  test('that belongs to somebody else is neither read nor written', () => {
    writeKernel(key, image);
    const { lstatSync } = fs;
    vi.spyOn(fs, 'lstatSync').mockImplementation(((path: string) =>
      Object.assign(lstatSync(path), { uid: 12345 })) as never);
    expect(readKernel(key)).toBe(null);
    writeKernel(other, image);
    expect(fs.readdirSync(cacheFolder()!)).toEqual([`${key}.cubin`]);
  });
  test('that others may write is not read, and closed to them before it is written', () => {
    writeKernel(key, image);
    fs.chmodSync(cacheFolder()!, 0o777);
    expect(readKernel(key)).toBe(null);
    writeKernel(other, image);
    expect(fs.statSync(cacheFolder()!).mode & 0o777).toBe(0o700);
    expect(readKernel(other)).toEqual(image);
  });
  test('that is a link is not used', () => {
    fs.mkdirSync(join(base, 'elsewhere'));
    fs.mkdirSync(join(base, 'quadrille'), { mode: 0o700 });
    fs.symlinkSync(join(base, 'elsewhere'), cacheFolder()!);
    writeKernel(key, image);
    expect(readKernel(key)).toBe(null);
    expect(fs.readdirSync(join(base, 'elsewhere'))).toEqual([]);
  });
  test('in the place of a file costs nothing but the cache', () => {
    fs.mkdirSync(pathOf(key), { recursive: true, mode: 0o700 });
    writeKernel(key, image);
    expect(readKernel(key)).toBe(null);
    expect(fs.readdirSync(cacheFolder()!)).toEqual([`${key}.cubin`]); // no part of a file is left
  });
  test('that cannot be made', () => {
    fs.writeFileSync(join(base, 'quadrille'), 'a file');
    writeKernel(key, image);
    expect(readKernel(key)).toBe(null);
  });
});

test.each(['ENOSPC', 'EROFS', 'EDQUOT'])('%s while writing leaves no file', code => {
  const { writeFileSync } = fs;
  vi.spyOn(fs, 'writeFileSync').mockImplementation((path, data, options) => {
    writeFileSync(path, (data as Uint8Array).subarray(0, 100), options);
    throw Object.assign(new Error(code), { code });
  });
  writeKernel(key, image);
  expect(fs.readdirSync(cacheFolder()!)).toEqual([]);
});

describe('where the folder is', () => {
  test('XDG_CACHE_HOME, if it is absolute; otherwise .cache in the home', () => {
    vi.stubEnv('HOME', '/home/somebody');
    expect(cacheFolder()).toBe(join(base, 'quadrille/cuda'));
    for (const relative of ['', '.', 'cache', './cache', '~/cache']) {
      vi.stubEnv('XDG_CACHE_HOME', relative);
      expect(cacheFolder()).toBe('/home/somebody/.cache/quadrille/cuda');
    }
  });
  test.each(['', '.', 'home', '../home'])("with HOME='%s' there is none, and nothing throws", home => {
    vi.stubEnv('XDG_CACHE_HOME', 'cache');
    vi.stubEnv('HOME', home);
    expect(cacheFolder()).toBe(undefined);
    writeKernel(key, image);
    expect(readKernel(key)).toBe(null);
  });
  test('a user without HOME and without an entry in the list of users has none', () => {
    vi.stubEnv('XDG_CACHE_HOME', '');
    vi.spyOn(os, 'homedir').mockImplementation(() => {
      throw new Error('A system error occurred: uv_os_homedir returned ENOENT');
    });
    expect(cacheFolder()).toBe(undefined);
  });
});
