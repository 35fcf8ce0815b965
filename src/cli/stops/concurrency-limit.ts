/** Bounds what runs at once. */

export type ConcurrencyLimit = <T>(work: () => Promise<T>) => Promise<T>;

/** Lets `atMost` works run at once; the others wait in the order of their coming. */
export function createConcurrencyLimit(atMost: number): ConcurrencyLimit {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= atMost) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      // A place goes straight to the next one, so that nobody who comes between takes it.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
