import { sandboxFor } from '../../domain/access.js';
import { sandboxView } from '../../domain/sandbox-view.js';
import { shareSandbox, unshareSandbox } from '../../domain/sharing.js';
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
