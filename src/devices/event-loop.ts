/**
 * Turns of the event loop, for all work on the calling thread. Timers and signals are heard only between two turns, so
 * work stops every TURN_PERIOD_MS to let one pass. The period is shared by all runs of the thread: if each of 50 runs
 * worked for a period of its own, a deadline would be heard after 50 of them. Those that wait go on in their order, one
 * per turn.
 */

/** Milliseconds of work on the calling thread between two turns of the event loop. */
const TURN_PERIOD_MS = 8;

let lastTurn = performance.now();
const waiting: (() => void)[] = [];

/** A turn of the event loop to wait for, if the last one was TURN_PERIOD_MS ago; undefined otherwise. */
export function dueTurn(): Promise<void> | undefined {
  if (performance.now() - lastTurn < TURN_PERIOD_MS) return undefined;
  return new Promise(resolve => {
    waiting.push(resolve);
    if (waiting.length === 1) afterTurn(next);
  });
}

function next(): void {
  lastTurn = performance.now();
  waiting.shift()!();
  if (waiting.length > 0) afterTurn(next);
}

/** Calls `f` after timers and messages that are due have been handled. */
export function afterTurn(f: () => void): void {
  if (typeof setImmediate === 'function') setImmediate(f);
  else setTimeout(f, 0);
}
