import { sandboxFor } from '../../sandboxes/access.js';
import { costOf } from '../../sandboxes/cost.js';
import { forkSandbox } from '../../sandboxes/fork.js';
import { sandboxJson } from '../../sandboxes/view.js';
import type { Operations } from '../operation.js';

export const forkOperations: Pick<Operations, 'forkSandbox' | 'getSandboxUsage'> = {
  async forkSandbox(context, { caller, params: { sandboxId }, body, sentBody, idempotencyKey }) {
    const sandbox = await forkSandbox(context, sandboxId, { body, caller, idempotencyKey, sentBody });
    const source = `"sourceSandboxId":${JSON.stringify(sandboxId)}`;
    return { json: `"sandbox":${sandboxJson(context, caller, sandbox)},${source}`, sandboxId: sandbox.id };
  },

  /** The meter of `cost` in the list. */
  getSandboxUsage(context, { caller, params: { sandboxId } }) {
    const sandbox = sandboxFor(context, caller, sandboxId, 'view');
    return { fields: { usage: costOf(sandbox, context.clock.now()) } };
  },
};
