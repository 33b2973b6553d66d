/** A cache by text keys that holds what was used last, up to a total size in units of the caller's choice. */

export class RecentCache<V> {
  readonly #most: number;
  /** The entry that was used longest ago is first, as maps keep the order of insertion. */
  readonly #entries = new Map<string, { value: V; size: number }>();
  #size = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Keeps a value; what was used longest ago makes room for it, and what is larger than the whole cache is not kept. */
  set(key: string, value: V, size: number): void {
    this.delete(key);
    if (size > this.#most) return;
    this.#entries.set(key, { value, size });
    this.#size += size;
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= this.#most) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#size -= this.#entries.get(key)?.size ?? 0;
    this.#entries.delete(key);
  }
}
