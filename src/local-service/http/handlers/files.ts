import { isUtf8 } from 'node:buffer';
import { isUsable } from '../../../contract/states.js';
import { sandboxFor } from '../../domain/access.js';
import type { Caller } from '../../domain/caller.js';
import type { Context } from '../../domain/context.js';
import { newCommandId } from '../../domain/ids.js';
import { ServiceError } from '../../service-error.js';
import type { Operations } from '../operation.js';

/** Assumption: a JSON file read or write is limited to this. */
export const maxFileBytes = 32 * 1024 * 1024;

export const fileOperations: Pick<Operations, 'readFile' | 'writeFile' | 'runCommand'> = {
  async readFile(context, { caller, params: { sandboxId }, query: { path } }) {
    requireMachine(context, caller, sandboxId);
    const content = await context.host.readFile(sandboxId, path, maxFileBytes);
    const encoding = isUtf8(content) ? 'utf8' : 'base64';
    return { fields: { path, encoding, content: content.toString(encoding), size: content.length } };
  },

  async writeFile(context, { caller, params: { sandboxId }, body: { path, content, encoding = 'utf8' } }) {
    requireMachine(context, caller, sandboxId);
    const bytes = Buffer.from(content, encoding);
    if (bytes.length > maxFileBytes) throw new ServiceError(413, 'too_large', 'The file is larger than 32 MiB.');
    await context.host.writeFile(sandboxId, path, bytes);
    return { fields: { path, size: bytes.length } };
  },

  async runCommand(context, { caller, params: { sandboxId }, body: { command, cwd, env, timeoutSeconds } }) {
    requireMachine(context, caller, sandboxId);
    const timeoutMs = timeoutSeconds === undefined ? undefined : Math.ceil(timeoutSeconds * 1000);
    const outcome = await context.host.run(sandboxId, { command, cwd, env, timeoutMs });
    return { fields: { commandId: newCommandId(), ...outcome } };
  },
};

/** @throws ServiceError `machine_not_running` (specification, "Errors": wait for the machine to start) */
function requireMachine(context: Context, caller: Caller, sandboxId: string): void {
  const sandbox = sandboxFor(context, caller, sandboxId, 'use');
  if (isUsable(sandbox.state)) return;
  const message = `The sandbox is ${sandbox.state}. Files and commands need it to be ready, idle or running.`;
  throw new ServiceError(400, 'machine_not_running', message);
}
