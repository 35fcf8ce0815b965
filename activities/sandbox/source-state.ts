/** Reads from which state a fork starts. */
import type { CallOptions, SandboxClient } from '../../src/client/index.js';
import { orNullWhenMissing } from '../../src/client/missing.js';
import { changeOfSandbox, changeOfSnapshot, type SourceState } from '../../src/contract/workflow-safe/source-state.js';
import { type Attempt, repeatable } from '../retry/attempt.js';
import { sandboxView } from '../sandbox-view.js';

export function createSourceReads(client: SandboxClient) {
  return {
    /** The snapshot that a create by this name would use; null if the list shows no match or several. */
    findNamedSnapshot: (name: string): Promise<SourceState | null> =>
      repeatable(async ({ call }) => {
        const { snapshots } = await call((signal) => client.listSnapshots({ signal }));
        const [match, ...more] = snapshots.filter((known) => known.name === name || known.id === name);
        if (match?.sandboxId == null || more.length > 0) return null;
        return { kind: 'snapshot', name, snapshotId: match.id, sandboxId: match.sandboxId };
      }),

    /** Why a fork that was answered before this call may not have started from this state; null if it has. */
    readSourceChange: (state: SourceState): Promise<string | null> =>
      repeatable(({ call }) => call((signal) => sourceChange(client, state, { signal }))),
  };
}

/** Forks of a state that are answered within this time share one read of their source, in ms. */
const sharedWithinMs = 100;
/** Time limit of a shared read, in ms: a worker that shuts down waits for it. */
const sharedTimeoutMs = 8_000;

/**
 * A source hardly ever returns to an earlier state. So if a read that begins after a fork was answered shows this state,
 * the fork started from it. The read serves all forks that were answered before it.
 * @returns a function that reads why the source is not in a state; null if it is
 */
export function createSharedSourceReads(client: SandboxClient) {
  const next = new Map<string, Promise<string | null>>();
  return ({ call }: Pick<Attempt, 'call'>, state: SourceState): Promise<string | null> => {
    const key = JSON.stringify(state);
    // The signal of one fork must not end the read of the others.
    const read = async () => {
      await new Promise((resolve) => setTimeout(resolve, sharedWithinMs));
      next.delete(key);
      return sourceChange(client, state, { timeoutMs: sharedTimeoutMs });
    };
    const shared = next.get(key) ?? call(read);
    next.set(key, shared);
    return shared;
  };
}

async function sourceChange(
  client: SandboxClient,
  state: SourceState,
  options: CallOptions = {},
): Promise<string | null> {
  const { sandboxId } = state;
  if (state.kind === 'sandbox') {
    const answer = await orNullWhenMissing(client.getSandbox(sandboxId, options));
    return changeOfSandbox(state, answer && sandboxView(answer.sandbox));
  }
  const answer = await orNullWhenMissing(client.listSandboxSnapshots(sandboxId, options));
  return changeOfSnapshot(state, answer?.snapshots.map(({ id, name = null }) => ({ id, name })) ?? null);
}
