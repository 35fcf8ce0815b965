/** What can be done with the machine of a sandbox, by the state of the sandbox. */
import { isUsable } from '../../../src/contract/workflow-safe/states.js';
import type { SandboxRecord } from '../store/sandbox-record.js';

/** True if the sandbox has a machine, so that its record shows provider, address and URL. */
export function hasMachine({ state, gone }: SandboxRecord): boolean {
  return gone === null && (isUsable(state) || ['provisioned', 'cloning', 'archiving'].includes(state));
}

/**
 * True if the sandbox accepts commands, files and prompts: while it is usable, and while its stop is failing, which they
 * do not cancel (specification, "StopOperation").
 */
export function acceptsWork({ state, gone, stop }: SandboxRecord): boolean {
  return gone === null && (isUsable(state) || (state === 'archiving' && stop?.status === 'failing'));
}

/**
 * True if the SSH port of the sandbox is open: from the start of its machine until the stop (specification,
 * `sshEndpoint`). Who may log in is another question.
 */
export function hasSshPort(sandbox: SandboxRecord): boolean {
  return hasMachine(sandbox) && sandbox.state !== 'archiving';
}
