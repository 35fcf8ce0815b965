/** Removes results of forgotten jobs, as a part of a cleanup. */
import { Context } from '@temporalio/activity';
import { anySignal, timeLimit } from '../../src/os/any-signal.js';
import type { CleanupInput, ResultRemoval } from '../../src/protocol/cleanup.js';
import type { ResultStore } from '../../src/result-store/index.js';
import { removeForgotten } from '../../src/workflow-client/cleanups/forgotten-results.js';
import { withHeartbeat } from '../retry/attempt.js';

export const createResultRemoval = (results: ResultStore) => ({
  /** Each call may remove as much as the limits of the policy allow. */
  async removeResults({ deployment, policy, mode }: CleanupInput): Promise<ResultRemoval> {
    const { client, cancellationSignal } = Context.current();
    // What is left then is for the next night.
    const signal = anySignal([cancellationSignal, timeLimit(15 * 60_000)]);
    const limits = { olderThanMs: policy.resultsOlderThanMs, maxPercent: policy.limits.maxPercent, maxFolders: 1_000 };
    const options = { deployment, ...limits, dryRun: mode === 'plan', signal };
    return withHeartbeat(() => removeForgotten(client, results, options));
  },
});
