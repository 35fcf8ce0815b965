export type SandboxLocks = ReturnType<typeof createSandboxLocks>;

/** Runs one operation at a time for each sandbox, in the order of the calls. */
export function createSandboxLocks() {
  const tails = new Map<string, Promise<unknown>>();
  return {
    async run<Result>(sandboxId: string, operation: () => Promise<Result>): Promise<Result> {
      const before = tails.get(sandboxId) ?? Promise.resolve();
      const mine = before.then(operation, operation);
      tails.set(sandboxId, mine);
      try {
        return await mine;
      } finally {
        if (tails.get(sandboxId) === mine) tails.delete(sandboxId);
      }
    },
  };
}
