/** Reads from which state a fork starts. */
import type { SandboxClient } from '../../src/client/index.js';
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
      repeatable((attempt) => sourceChange(client, attempt, state)),
  };
}

/**
 * A source hardly ever returns to an earlier state. So if it is still in this state after a fork was answered, the fork
 * started from this state.
 */
export async function sourceChange(
  client: SandboxClient,
  { call }: Pick<Attempt, 'call'>,
  state: SourceState,
): Promise<string | null> {
  const { sandboxId } = state;
  if (state.kind === 'sandbox') {
    const answer = await orNullWhenMissing(call((signal) => client.getSandbox(sandboxId, { signal })));
    return changeOfSandbox(state, answer && sandboxView(answer.sandbox));
  }
  const answer = await orNullWhenMissing(call((signal) => client.listSandboxSnapshots(sandboxId, { signal })));
  return changeOfSnapshot(state, answer?.snapshots.map(({ id, name = null }) => ({ id, name })) ?? null);
}
