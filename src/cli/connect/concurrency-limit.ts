/** Limits how many tasks run at once. */

export type ConcurrencyLimit = <T>(work: () => Promise<T>) => Promise<T>;

/** Runs at most `atMost` tasks at once; further tasks wait in order of arrival. */
export function createConcurrencyLimit(atMost: number): ConcurrencyLimit {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= atMost) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      // Pass the slot to the next waiting task, so that a new task cannot take it.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
