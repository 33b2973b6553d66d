/** The result of a promise; rejects with the signal's reason if the signal aborts before. */
export async function beforeAbort<T>(work: T | Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  signal.throwIfAborted();
  let leave = () => {};
  const aborted = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
  });
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', leave));
}
