/** The first Ctrl-C ends a run, which then gives its estimate so far; the second one ends the process at once. */

export interface Interrupt {
  signal: AbortSignal;
  /** Stops listening to the signals of the process. */
  done(): void;
}

export function interruptible(): Interrupt {
  const stop = new AbortController();
  const onSignal = (_: NodeJS.Signals, number: number) => {
    if (stop.signal.aborted) process.exit(128 + number); // as shells count a process that a signal ended
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
