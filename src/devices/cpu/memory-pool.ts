/**
 * The WebAssembly memories of a thread, lent to engines in turns. Every memory reserves gigabytes of address space, whatever
 * it holds, and gives them back only when the garbage collector finds it: Chromium 156 has slot for 125 in a page and all its
 * workers together, where a scan had thousands of engines. So engines own none. A thread has a few, even one will do. An engine
 * that gets a memory writes what it needs, which takes microseconds but for large tables. An engine that waits in the middle
 * of its work, for a plain function, keeps its memory meanwhile, and others get one more.
 *
 * The text of `makeMemoryPool` is what workers are made of, so it uses nothing from outside.
 */

/** An engine that works in a memory for a while. */
export interface MemoryUser {
  /** Bytes that it needs. */
  readonly size: number;
  /** It gets a memory: everything has to be written, because the bytes in it are somebody else's. */
  enter(memory: WebAssembly.Memory): void;
  /** It loses the memory: what is nowhere else has to be read. */
  leave(): void;
}

export interface MemoryPool {
  /** Does some work with the user in a memory; nobody else gets that memory before the work is done. */
  use<T>(user: MemoryUser, work: () => T | Promise<T>): T | Promise<T>;
  /** This user never comes back. */
  close(user: MemoryUser): void;
}

/** A pool of at most `most` memories; of more while some users wait in the middle of their work. */
export function makeMemoryPool(most: number): MemoryPool {
  /** Bytes above which a memory is not kept for the next user: the slot of a large table would stay for ever. */
  const LARGE = 2 ** 24;
  interface Slot {
    memory: WebAssembly.Memory;
    user: MemoryUser | null;
    busy: boolean;
  }
  const slots = new Set<Slot>(); // least recently used first

  /** A slot for a new user: an empty one, a new one, or the one that was not used for the longest time. */
  const vacant = (): Slot => {
    let idle: Slot | undefined;
    for (const slot of slots) {
      if (slot.busy) continue;
      if (!slot.user) return slot;
      idle ??= slot;
    }
    if (idle && slots.size >= most) return idle;
    try {
      return { memory: new WebAssembly.Memory({ initial: 1 }), user: null, busy: false };
    } catch (e) {
      if (idle) return idle;
      throw e;
    }
  };
  const slotOf = (user: MemoryUser): Slot => {
    for (const slot of slots) if (slot.user === user) return slot;
    const slot = vacant();
    slot.user?.leave();
    slot.user = null;
    const missing = Math.ceil((user.size - slot.memory.buffer.byteLength) / 65536);
    if (missing > 0) slot.memory.grow(missing);
    user.enter(slot.memory);
    slot.user = user;
    return slot;
  };

  return {
    use(user, work) {
      const slot = slotOf(user);
      slots.delete(slot);
      slots.add(slot);
      slot.busy = true;
      const done = () => {
        slot.busy = false;
      };
      let result: ReturnType<typeof work> | undefined;
      try {
        result = work();
      } finally {
        if (!(result instanceof Promise)) done();
      }
      return result instanceof Promise ? result.finally(done) : result;
    },
    close(user) {
      for (const slot of slots) {
        if (slot.user !== user) continue;
        slot.user = null;
        if (slot.memory.buffer.byteLength > LARGE) slots.delete(slot);
      }
    },
  };
}
