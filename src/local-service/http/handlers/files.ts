import { isUtf8 } from 'node:buffer';
import { isUsable } from '../../../contract/states.js';
import type { Context } from '../../domain/context.js';
import { newCommandId } from '../../domain/ids.js';
import { ServiceError, sandboxNotFound } from '../../service-error.js';
import type { Operations } from '../operation.js';

/** Assumption: a JSON file read or write is limited to this. */
export const maxFileBytes = 32 * 1024 * 1024;

export const fileOperations: Pick<Operations, 'readFile' | 'writeFile' | 'runCommand'> = {
  async readFile(context, { params: { sandboxId }, query: { path } }) {
    requireMachine(context, sandboxId);
    const content = await context.host.readFile(sandboxId, path, maxFileBytes);
    const encoding = isUtf8(content) ? 'utf8' : 'base64';
    return { fields: { path, encoding, content: content.toString(encoding), size: content.length } };
  },

  async writeFile(context, { params: { sandboxId }, body: { path, content, encoding = 'utf8' } }) {
    requireMachine(context, sandboxId);
    const bytes = Buffer.from(content, encoding);
    if (bytes.length > maxFileBytes) throw new ServiceError(413, 'too_large', 'The file is larger than 32 MiB.');
    await context.host.writeFile(sandboxId, path, bytes);
    return { fields: { path, size: bytes.length } };
  },

  async runCommand(context, { params: { sandboxId }, body: { command, cwd, env, timeoutSeconds } }) {
    requireMachine(context, sandboxId);
    const timeoutMs = timeoutSeconds === undefined ? undefined : Math.ceil(timeoutSeconds * 1000);
    const outcome = await context.host.run(sandboxId, { command, cwd, env, timeoutMs });
    return { fields: { commandId: newCommandId(), ...outcome } };
  },
};

/** @throws ServiceError `machine_not_running` (specification, "Errors": wait for the machine to start) */
function requireMachine(context: Context, sandboxId: string): void {
  const sandbox = context.stores.sandboxes.get(sandboxId);
  if (!sandbox) throw sandboxNotFound(sandboxId);
  if (isUsable(sandbox.state)) return;
  const message = `The sandbox is ${sandbox.state}. Files and commands need it to be ready, idle or running.`;
  throw new ServiceError(400, 'machine_not_running', message);
}
