import { requireMachine, sandboxFor } from '../../access/sandbox-access.js';
import { assume } from '../../core/assume.js';
import { listProcesses } from '../../processes/samples.js';
import { configureSshKey } from '../../sandboxes/ssh-access.js';
import { ServiceError } from '../../service-error.js';
import type { Operations } from '../operation.js';

export const machineOperations = {
  async listProcesses(context, { caller, params: { sandboxId } }) {
    const sandbox = sandboxFor(context, caller, sandboxId, 'use');
    return { fields: { ...(await listProcesses(context, sandbox)) } };
  },

  async downloadArtifact(context, { caller, params: { sandboxId }, query: { path } }) {
    requireMachine(sandboxFor(context, caller, sandboxId, 'use'));
    return { raw: await context.host.download({ sandboxId }, path) };
  },

  /**
   * The error code is an assumption. The answer does not depend on the state of the sandbox, so the state is not
   * checked.
   */
  openDesktop(context, { caller, params: { sandboxId } }) {
    sandboxFor(context, caller, sandboxId, 'use');
    assume('A-desktop');
    const message =
      'This sandbox has no desktop. Machines of the local service have neither a display server nor a VNC server.';
    throw new ServiceError(409, 'desktop_not_available', message, {
      details: { desktopAvailable: false, missing: ['display_server', 'vnc_server'] },
    });
  },

  async setSshKey(context, { caller, params: { sandboxId }, body: { publicKey } }) {
    const { sshEndpoint } = await configureSshKey(context, sandboxId, { caller, publicKey });
    return { fields: { sshEndpoint } };
  },
} satisfies Partial<Operations>;
