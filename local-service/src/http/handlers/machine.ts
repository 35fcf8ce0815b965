import { mayLast } from '../../access/access-tokens.js';
import { type Caller, requireAction } from '../../access/key-scope.js';
import { requireMachine, requireUsable, sandboxFor } from '../../access/sandbox-access.js';
import { assume } from '../../core/assume.js';
import type { Context } from '../../core/context.js';
import { streamPath } from '../../hosting/desktop-page.js';
import { supportsDesktop } from '../../machine/index.js';
import { listProcesses } from '../../processes/samples.js';
import { configureSshKey } from '../../sandboxes/ssh-access.js';
import { desktopUrlFor } from '../../sandboxes/view.js';
import { ServiceError } from '../../service-error.js';
import type { Operations } from '../operation.js';

/** The error code is an assumption. @throws ServiceError 409 `desktop_not_available`, which says what is missing */
function requireDesktops({ host }: Context): void {
  if (supportsDesktop(host.desktop)) return;
  const { missing, problem } = host.desktop;
  const install = `Install ${missing.join(', ')} on the machine of the local service, and start the service again.`;
  const message = [problem, missing.length === 0 ? undefined : install].filter(Boolean).join(' ');
  throw new ServiceError(409, 'desktop_not_available', `This sandbox has no desktop. ${message}`, {
    details: { desktopAvailable: false, missing },
  });
}

export const machineOperations = {
  async listProcesses(context, { caller, params: { sandboxId } }) {
    const sandbox = sandboxFor(context, caller, sandboxId, 'use');
    return { fields: { ...(await listProcesses(context, sandbox)) } };
  },

  async downloadArtifact(context, { caller, params: { sandboxId }, query: { path } }) {
    const find = (by: Caller) => sandboxFor(context, by, sandboxId, 'use');
    requireMachine(find(caller));
    return { raw: await context.host.download({ sandboxId }, path), mayRead: find };
  },

  async openDesktop(context, { caller, params: { sandboxId }, query: { vnc }, body }) {
    const sandbox = sandboxFor(context, caller, sandboxId, 'use');
    assume('A-desktop');
    requireDesktops(context);
    requireUsable(sandbox);
    const isPublic = mayLast(context, caller, (now) => {
      requireAction(now, 'desktop');
      sandboxFor(context, now, sandboxId, 'use');
    });
    const { publicAccess } = body ?? {};
    await context.host.openDesktop(sandboxId, publicAccess === false ? () => false : publicAccess && isPublic);
    const page = new URL(desktopUrlFor(context, caller, sandbox) ?? '');
    if (vnc === undefined && !body?.publicAccess) return { fields: { url: page.href } };
    const stream = `ws://${page.host}${streamPath}`;
    return { fields: { url: body?.publicAccess ? stream : `${stream}${page.search}` } };
  },

  async setSshKey(context, { caller, params: { sandboxId }, body: { publicKey } }) {
    const { sshEndpoint } = await configureSshKey(context, sandboxId, { caller, publicKey });
    return { fields: { sshEndpoint } };
  },
} satisfies Partial<Operations>;
