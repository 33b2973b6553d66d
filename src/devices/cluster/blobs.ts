/** What jobs name by digests, as long as a task uses it. Several tasks may use the same map. */
import { digestOf, type Put } from './packing.ts';

export class Blobs {
  readonly #kept = new Map<string, { bytes: Uint8Array; users: number }>();

  get(digest: string): Uint8Array | undefined {
    return this.#kept.get(digest)?.bytes;
  }

  /** Keeps what `put` is given until `release` is called. */
  user(): { put: Put; release(): void } {
    const own = new Set<string>();
    const put: Put = bytes => {
      const digest = digestOf(bytes);
      if (own.has(digest)) return digest;
      own.add(digest);
      const known = this.#kept.get(digest);
      if (known) known.users++;
      else this.#kept.set(digest, { bytes: new Uint8Array(bytes), users: 1 });
      return digest;
    };
    const release = () => {
      for (const digest of own) {
        const known = this.#kept.get(digest)!;
        if (--known.users === 0) this.#kept.delete(digest);
      }
      own.clear();
    };
    return { put, release };
  }
}
