/**
 * Compiled kernels on disk. A kernel is machine code that a card will run, so a file is used only if this user, and no
 * other, can have written it, and if it is whole:
 *
 * - The folder belongs to this user and nobody else may write there; the file likewise. On Windows, where the folder is in
 *   the user's profile, its access list sees to that.
 * - The file begins with the SHA-256 of its key and its content. So a file that was cut off, changed by a failing disk, or
 *   moved to the name of another kernel is not used. It is no signature: whoever can write as this user can make one.
 *
 * Nothing here throws: a cache that cannot be used costs a second of compiling, and no run.
 */

// bundlers for the browser do not follow getBuiltinModule
const { createHash, randomUUID } = process.getBuiltinModule('node:crypto');
const fs = process.getBuiltinModule('node:fs');
const os = process.getBuiltinModule('node:os');
const { dirname, isAbsolute, join } = process.getBuiltinModule('node:path');

const DIGEST_BYTES = 32;
/** The largest file that is read; kernels have some 100 kB. */
const MAX_BYTES = 2 ** 28;
/** Group and others may write. */
const WRITABLE_BY_OTHERS = 0o022;

/** The home of the user; undefined where there is none, or a relative one: nothing is looked for in the working folder. */
export function homeFolder(): string | undefined {
  try {
    const home = os.homedir(); // throws for a user without HOME and without an entry in the list of users
    return isAbsolute(home) ? home : undefined;
  } catch {
    return undefined;
  }
}

/** The folder in which compiled kernels are kept; undefined where there is no place for one. */
export function cacheFolder(): string | undefined {
  const { XDG_CACHE_HOME: named = '' } = process.env;
  const home = homeFolder();
  // the specification of XDG has relative paths ignored
  const base = isAbsolute(named) ? named : home && join(home, '.cache');
  return base && join(base, 'quadrille', 'cuda');
}

/** The kernel of a key, which is a SHA-256 in hexadecimal digits; null unless the cache has a sound file of it. */
export function readKernel(key: string): Uint8Array | null {
  const folder = cacheFolder();
  if (!folder || !isPrivate(folder)) return null;
  let file: number | undefined;
  try {
    // no symbolic links, and not to wait for a pipe (Windows has neither flag)
    const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fs.constants;
    file = fs.openSync(pathOf(folder, key), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const found = fs.fstatSync(file);
    if (!found.isFile() || !isOurs(found) || found.size > MAX_BYTES) return null;
    const bytes = fs.readFileSync(file);
    const content = bytes.subarray(DIGEST_BYTES);
    const sound = digestOf(key, content).equals(bytes.subarray(0, DIGEST_BYTES));
    return sound && content.length > 0 ? new Uint8Array(content) : null;
  } catch {
    return null;
  } finally {
    if (file !== undefined) fs.closeSync(file);
  }
}

/** Keeps a kernel, if there is a place for it. */
export function writeKernel(key: string, image: Uint8Array): void {
  const folder = cacheFolder();
  if (!folder || !makePrivate(folder)) return;
  const path = pathOf(folder, key);
  const part = `${path}.${randomUUID()}.part`;
  try {
    fs.writeFileSync(part, Buffer.concat([digestOf(key, image), image]), { flag: 'wx', mode: 0o600 });
    fs.renameSync(part, path); // renaming is atomic, so no process reads half a file
  } catch {
    fs.rmSync(part, { force: true }); // the disk is full, or the folder cannot be written
  }
}

const pathOf = (folder: string, key: string) => join(folder, `${key}.cubin`);

const digestOf = (key: string, content: Uint8Array) =>
  createHash('sha256').update(key, 'hex').update(content).digest();

interface Owned {
  uid: number;
  mode: number;
}

/** Whether this user alone may write it. */
function isOurs({ uid, mode }: Owned): boolean {
  const user = process.geteuid?.();
  return user === undefined || (uid === user && (mode & WRITABLE_BY_OTHERS) === 0);
}

function isPrivate(folder: string): boolean {
  try {
    // whoever may write in the folder around it can put another one in its place
    return [folder, dirname(folder)].map(f => fs.lstatSync(f)).every(f => f.isDirectory() && isOurs(f));
  } catch {
    return false;
  }
}

/** Makes the folder where it is missing, and closes it to others where it is this user's but open to them. */
function makePrivate(folder: string): boolean {
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const f of [dirname(folder), folder]) {
      const found = fs.lstatSync(f);
      // a file that somebody else put there meanwhile is somebody else's, and is not read
      if (found.isDirectory() && found.uid === process.geteuid?.() && !isOurs(found)) fs.chmodSync(f, 0o700);
    }
  } catch {
    return false;
  }
  return isPrivate(folder);
}
