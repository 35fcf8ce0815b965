/** Applies one planned action of a cleanup. */
import { activityInfo, Context } from '@temporalio/activity';
import type { SandboxClient } from '../../src/client/index.js';
import { orNullWhenMissing } from '../../src/client/missing.js';
import type { ResponseOf } from '../../src/contract/endpoints/endpoints.js';
import { escalatingRequest } from '../../src/protocol/escalating-request.js';
import type { ResultStore } from '../../src/result-store/index.js';
import { factsOf } from '../../src/retention/index.js';
import { type Attempt, repeatable } from '../retry/attempt.js';
import { deletionOfAnswer } from '../sandbox/accepted-operation.js';
import { stopSandboxActivity } from '../sandbox/stop-resume.js';
import { createStopHandOver } from '../stop/hand-over.js';
import { readStopRequest } from '../stop/stop-request.js';
import { createClaim, releaseClaim } from '../watch.js';
import { type ActionPorts, type AppliedAction, doAction, type Removal } from './guarded-action.js';
import { createOwnerReader } from './owners.js';
import type { CleanupChunk } from './plan.js';
import { readLastEnds } from './sandbox-ends.js';

export interface ApplyCleanupInput {
  readonly chunkRef: string;
  /** Index of the action in its chunk. */
  readonly index: number;
}

/** The plan may have missed what ended shortly before it, because Temporal lists with a delay; in ms. */
const listLagMs = 60_000;

export function createCleanupApply(client: SandboxClient, results: ResultStore, taskQueue: string) {
  const stopSandbox = stopSandboxActivity(client, results);
  const { handOverStop } = createStopHandOver(taskQueue);

  return {
    /**
     * Checks all guards again, and performs the action if no guard refuses. Safe to repeat, because it detects the
     * action of an earlier attempt.
     * @throws the failures of every activity. If a guard refuses, this is a result and not an error
     */
    async applyCleanup({ chunkRef, index }: ApplyCleanupInput): Promise<AppliedAction> {
      const chunk = JSON.parse((await results.get(chunkRef)).toString('utf8')) as CleanupChunk;
      const planned = chunk.actions[index];
      if (!planned) throw new RangeError(`The chunk ${chunkRef} has no action ${index}.`);
      const { policy, allowed, deployment, readSinceMs } = chunk;
      const requestId = activityInfo().workflowExecution?.workflowId ?? '';
      // A job that waits for the end of the stop needs the escalation.
      const ends = planned.action === 'escalate' ? 'work' : 'any';
      const claimOptions = { purpose: `action ${planned.number}`, ends } as const;
      const claim = createClaim(planned.facts.id, claimOptions, taskQueue);
      return repeatable((attempt) => {
        const ports: ActionPorts = {
          ...portsOfService(client, attempt),
          claim: claim.ask,
          confirm: claim.confirm,
          release: (sandboxId) => releaseClaim(sandboxId, claimOptions),
          async ownerOf(sandbox) {
            const { client: temporal } = Context.current();
            const sinceMs = readSinceMs - listLagMs;
            const later = (await readLastEnds(temporal, { sinceMs, signal: attempt.signal })).get(sandbox.id);
            const ends = [planned.owner.ended, later].filter((end) => end !== undefined);
            return createOwnerReader(temporal, deployment)(sandbox, { ends });
          },
          nowMs: () => Date.now(),
          async escalate(sandboxId) {
            const { escalate, notify } = policy;
            if (escalate) await handOverStop(sandboxId, escalatingRequest({ requestId, escalate, notify }));
          },
          isEscalated: async (sandboxId) => (await readStopRequest(sandboxId, requestId)) !== null,
          async stop(sandboxId) {
            const stopped = await stopSandbox({ sandboxId });
            return stopped === 'gone' ? null : (stopped.stop?.id ?? null);
          },
        };
        return doAction(planned, { policy, allowed, isRepeated: attempt.attempt > 1, claimOptions, ports });
      });
    },
  };
}

function removalOf(answer: ResponseOf<'deleteSandbox'> | null): Removal {
  return answer === null ? 'gone' : { operationId: deletionOfAnswer(answer) };
}

type ServicePorts = Pick<ActionPorts, 'read' | 'snapshotsOf' | 'deleteSandbox' | 'deleteSnapshot'>;

function portsOfService(client: SandboxClient, { call }: Attempt): ServicePorts {
  return {
    async read(sandboxId) {
      const answer = await orNullWhenMissing(call((signal) => client.getSandbox(sandboxId, { signal })));
      return answer && factsOf(answer.sandbox);
    },
    async snapshotsOf(sandboxId) {
      const answer = await orNullWhenMissing(call((signal) => client.listSandboxSnapshots(sandboxId, { signal })));
      return (answer?.snapshots ?? [])
        .filter(({ status }) => (status ?? 'completed') === 'completed')
        .map(({ id, name = null, createdAt = null }) => ({ id, name, createdAt }));
    },
    // A cancel does not abort a deletion, because its effect would then be unknown.
    async deleteSandbox(sandboxId) {
      return removalOf(await orNullWhenMissing(call(() => client.deleteSandbox(sandboxId))));
    },
    async deleteSnapshot(snapshotId) {
      return removalOf(await orNullWhenMissing(call(() => client.deleteSnapshot(snapshotId))));
    },
  };
}
