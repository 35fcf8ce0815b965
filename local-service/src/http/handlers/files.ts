import { isUtf8 } from 'node:buffer';
import { maxFileBytes } from '../../../../src/contract/workflow-safe/limits.js';
import { requireMachine, sandboxFor } from '../../access/sandbox-access.js';
import { newCommandId } from '../../core/ids.js';
import { machineEnvironment } from '../../environments/on-machine.js';
import { ServiceError } from '../../service-error.js';
import type { Operations } from '../operation.js';

export const fileOperations = {
  async readFile(context, { caller, params: { sandboxId }, query: { path } }) {
    requireMachine(sandboxFor(context, caller, sandboxId, 'use'));
    const content = await context.host.readFile(sandboxId, path, maxFileBytes);
    const encoding = isUtf8(content) ? 'utf8' : 'base64';
    return { fields: { path, encoding, content: content.toString(encoding), size: content.length } };
  },

  async writeFile(context, { caller, params: { sandboxId }, body: { path, content, encoding = 'utf8' } }) {
    requireMachine(sandboxFor(context, caller, sandboxId, 'use'));
    const bytes = Buffer.from(content, encoding);
    if (bytes.length > maxFileBytes) throw new ServiceError(413, 'too_large', 'The file is larger than 32 MiB.');
    await context.host.writeFile(sandboxId, path, bytes);
    return { fields: { path, size: bytes.length } };
  },

  async runCommand(context, { caller, params: { sandboxId }, body: { command, cwd, env, timeoutSeconds } }) {
    const sandbox = sandboxFor(context, caller, sandboxId, 'use');
    requireMachine(sandbox);
    const timeoutMs = timeoutSeconds === undefined ? undefined : Math.ceil(timeoutSeconds * 1000);
    const commandId = newCommandId();
    const outcome = await context.host.run(sandboxId, {
      command,
      cwd,
      env: { ...machineEnvironment(context, sandbox), ...env },
      timeoutMs,
      commandId,
    });
    return { fields: { commandId, ...outcome } };
  },
} satisfies Partial<Operations>;
