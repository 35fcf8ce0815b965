import { sandboxFor } from '../../sandboxes/access.js';
import { shareSandbox, unshareSandbox } from '../../sandboxes/sharing.js';
import { sandboxView } from '../../sandboxes/view.js';
import type { Operations } from '../operation.js';

/** Specification, "Access rules" and POST /sandboxes/{sandboxId}/unshare. */
export const sharingOperations: Pick<Operations, 'shareSandbox' | 'unshareSandbox'> = {
  shareSandbox(context, { caller, params: { sandboxId } }) {
    const found = sandboxFor(context, caller, sandboxId, 'owner');
    const { sandbox, message } = shareSandbox(context, found);
    return { fields: { sandbox: sandboxView(context, caller, sandbox), message } };
  },

  unshareSandbox(context, { caller, params: { sandboxId } }) {
    const found = sandboxFor(context, caller, sandboxId, 'owner');
    const { sandbox, message } = unshareSandbox(context, found);
    return { fields: { sandbox: sandboxView(context, caller, sandbox), message } };
  },
};
