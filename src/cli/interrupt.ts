/** Ctrl-C ends a run with what it has; a second one ends the process at once. */

export interface Interrupt {
  signal: AbortSignal;
  /** Gives the signals back. */
  done(): void;
}

export function interruptible(): Interrupt {
  const stop = new AbortController();
  const onSignal = () => {
    if (stop.signal.aborted) process.exit(130); // as shells call a process that SIGINT ended
    stop.abort();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return {
    signal: stop.signal,
    done() {
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
    },
  };
}
