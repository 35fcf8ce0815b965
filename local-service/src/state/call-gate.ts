/** Holds calls while the whole state of the service is replaced. */

const maxHoldWaitMs = 3_000;

export type CallGate = ReturnType<typeof createCallGate>;

export function createCallGate() {
  const underWay = new Set<Promise<unknown>>();
  let held: Promise<void> | undefined;

  return {
    /**
     * Runs a call as soon as no calls are held.
     * @param options.awaited false for a call that may last for hours and changes no record, so that `hold` does not
     * wait for its end
     */
    async pass<Result>(work: () => Promise<Result>, { awaited }: { readonly awaited: boolean }) {
      while (held) await held;
      const call = work();
      if (!awaited) return call;
      underWay.add(call);
      try {
        return await call;
      } finally {
        underWay.delete(call);
      }
    },
    /**
     * Holds every later call, and waits until the calls under way have ended. Waits 3 s at most, since a call may
     * itself wait for a clock that is held. Holders take turns.
     * @returns a function that releases the calls; safe to repeat
     */
    async hold() {
      while (held) await held;
      let release = (): void => undefined;
      held = new Promise((resolve) => {
        release = () => {
          held = undefined;
          resolve();
        };
      });
      let timer: NodeJS.Timeout | undefined;
      const timeout = new Promise((resolve) => {
        timer = setTimeout(resolve, maxHoldWaitMs);
      });
      await Promise.race([Promise.allSettled(underWay), timeout]);
      clearTimeout(timer);
      let done = false;
      return () => {
        if (!done) release();
        done = true;
      };
    },
  };
}
