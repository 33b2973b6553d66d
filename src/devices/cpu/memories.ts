/**
 * The memories of a thread. Every memory of WebAssembly reserves gigabytes of address space, whatever it holds, and
 * gives them back only when the garbage collector finds it: Chromium 156 has room for 125 in a page and all its workers
 * together, where a scan had thousands of engines. So engines own none. A thread has a few, even one will do, and
 * engines live there by turns: who comes writes what it needs, which takes microseconds but for large tables. What
 * stops in the middle of its work to wait for a plain function keeps its memory meanwhile, and others have one more.
 *
 * The text of `makeMemories` is what workers are made of, so it uses nothing from outside.
 */

/** An engine, as somebody who lives in a memory for a while. */
export interface Tenant {
  /** Bytes that it needs. */
  readonly size: number;
  /** Moves in: everything has to be written, what was there is somebody else's. */
  enter(memory: WebAssembly.Memory): void;
  /** Moves out: what is nowhere else has to be read. */
  leave(): void;
}

export interface Memories {
  /** Does some work with the tenant in a memory; nobody else gets that before the work is done. */
  use<T>(tenant: Tenant, work: () => T | Promise<T>): T | Promise<T>;
  /** This tenant never comes back. */
  close(tenant: Tenant): void;
}

/** `most`: memories to have at most, as long as nobody waits in one. */
export function makeMemories(most: number): Memories {
  /** Bytes above which a memory is not kept for the next tenant: a large table would stay for ever. */
  const LARGE = 2 ** 24;
  interface Room {
    memory: WebAssembly.Memory;
    tenant: Tenant | null;
    busy: boolean;
  }
  const rooms = new Set<Room>(); // least recently used first

  /** A room to move in: an empty one, a new one, or that which has not been used for longest. */
  const vacant = (): Room => {
    let idle: Room | undefined;
    for (const room of rooms) {
      if (room.busy) continue;
      if (!room.tenant) return room;
      idle ??= room;
    }
    if (idle && rooms.size >= most) return idle;
    try {
      return { memory: new WebAssembly.Memory({ initial: 1 }), tenant: null, busy: false };
    } catch (e) {
      if (idle) return idle;
      throw e;
    }
  };
  const roomOf = (tenant: Tenant): Room => {
    for (const room of rooms) if (room.tenant === tenant) return room;
    const room = vacant();
    room.tenant?.leave();
    room.tenant = null;
    const missing = Math.ceil((tenant.size - room.memory.buffer.byteLength) / 65536);
    if (missing > 0) room.memory.grow(missing);
    tenant.enter(room.memory);
    room.tenant = tenant;
    return room;
  };

  return {
    use(tenant, work) {
      const room = roomOf(tenant);
      rooms.delete(room);
      rooms.add(room);
      room.busy = true;
      const done = () => {
        room.busy = false;
      };
      let result: ReturnType<typeof work> | undefined;
      try {
        result = work();
      } finally {
        if (!(result instanceof Promise)) done();
      }
      return result instanceof Promise ? result.finally(done) : result;
    },
    close(tenant) {
      for (const room of rooms) {
        if (room.tenant !== tenant) continue;
        room.tenant = null;
        if (room.memory.buffer.byteLength > LARGE) rooms.delete(room);
      }
    },
  };
}
