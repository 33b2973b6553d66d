/**
 * The WebAssembly memories of a thread, lent to engines in turns. Every memory reserves gigabytes of address space,
 * whatever its size, and gives them back only when the garbage collector finds it: Chromium 156 has room for 125 in a page
 * and all its workers together, where a scan had thousands of engines. So engines own none. A thread has a few memories,
 * and one is enough. An engine that gets a memory writes everything that it needs, which takes microseconds except for
 * large tables. An engine that waits for a plain function in the middle of its work keeps its memory meanwhile, and
 * another engine gets an additional one.
 *
 * The text of `makeMemoryPool` is what workers are made of, so it uses nothing from outside.
 */

/** An engine that works in a memory for a while. */
export interface MemoryUser {
  /** Bytes that it needs. */
  readonly size: number;
  /** The engine gets a memory and has to write everything, because the bytes in it are those of another engine. */
  enter(memory: WebAssembly.Memory): void;
  /** The engine loses the memory and has to read what it still needs from it. */
  leave(): void;
}

export interface MemoryPool {
  /** Runs `work` while the user has a memory; no other user gets that memory before the work is done. */
  use<T>(user: MemoryUser, work: () => T | Promise<T>): T | Promise<T>;
  /** Tells that this user needs no memory any more. */
  close(user: MemoryUser): void;
}

/** A pool of at most `most` memories; there are more only while some users wait in the middle of their work. */
export function makeMemoryPool(most: number): MemoryPool {
  /** A memory of more bytes is not kept for the next user: memories never shrink, so one large table would stay for ever. */
  const MAX_KEPT_BYTES = 2 ** 24;
  interface Slot {
    memory: WebAssembly.Memory;
    user: MemoryUser | null;
    busy: boolean;
  }
  const slots = new Set<Slot>(); // least recently used first

  /** A slot for a new user: an empty one, a new one, or the one that was used least recently. */
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
      throw outOfMemory(e, 65536);
    }
  };
  const outOfMemory = (cause: unknown, bytes: number): Error => {
    const why = cause instanceof Error ? cause.message : String(cause);
    const error = new Error(`no WebAssembly memory of ${bytes} bytes: ${why}`, { cause });
    error.name = 'OutOfMemory';
    return error;
  };
  const slotOf = (user: MemoryUser): Slot => {
    for (const slot of slots) if (slot.user === user) return slot;
    const slot = vacant();
    slot.user?.leave();
    slot.user = null;
    const missing = Math.ceil((user.size - slot.memory.buffer.byteLength) / 65536);
    try {
      if (missing > 0) slot.memory.grow(missing);
      user.enter(slot.memory);
    } catch (e) {
      // also V8's error for an instance whose code finds no room
      throw e instanceof RangeError ? outOfMemory(e, user.size) : e;
    }
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
        if (slot.memory.buffer.byteLength > MAX_KEPT_BYTES) slots.delete(slot);
      }
    },
  };
}
