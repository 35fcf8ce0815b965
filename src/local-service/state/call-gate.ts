/** Holds calls while the state of the service as a whole is read or replaced. */

const maxHoldWaitMs = 3_000;

export type CallGate = ReturnType<typeof createCallGate>;

export function createCallGate() {
  const underWay = new Set<Promise<unknown>>();
  let held: Promise<void> | undefined;

  return {
    /**
     * Runs a call as soon as no calls are held.
     * @param options.awaited false for a call that may last for hours and changes no record: nobody waits for its end
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
     * Holds every call that comes from now on, and waits for those under way: until they have ended, or for a while, since a
     * call may itself wait for a clock that is held. Holders take turns.
     * @returns releases the calls; safe to repeat
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
