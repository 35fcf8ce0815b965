/** The secrets of an account: variables of its sandboxes (assumptions, GET and POST /secrets). */
import type { UpdateSecretsBody } from '../../../src/contract/requests/account-requests.js';
import type { Context } from '../core/context.js';
import { invalidRequest, type ServiceError } from '../service-error.js';
import type { SecretName } from '../store/environment-store.js';
import { maxVariableBytes } from './variables.js';

/** Linux limits what one program can be started with, and every program gets all secrets of the account. */
const maxAllBytes = 256 * 1024;

/**
 * Sets and unsets secrets, all of them or none. A name in both lists is set. In sandboxes whose environment passes
 * secrets, processes that start from then on see the change. Safe to repeat.
 * @returns names and times; values are never returned
 * @throws ServiceError 400 for a value that cannot be a variable; the message names the secret and never its value
 */
export function updateSecrets(
  context: Context,
  accountId: string,
  { set = {}, unset = [] }: UpdateSecretsBody,
): readonly SecretName[] {
  const { secrets } = context.stores;
  return context.database.transaction(() => {
    const updatedAt = context.clock.iso();
    for (const name of unset) secrets.remove(accountId, name);
    for (const [name, value] of Object.entries(set)) {
      if (value.includes('\0')) throw refused(name, 'contains a NUL character, which a variable cannot contain');
      if (Buffer.byteLength(value) > maxVariableBytes) throw refused(name, `is larger than ${maxVariableBytes} bytes`);
      secrets.put(accountId, { name, value, updatedAt });
    }
    let bytes = 0;
    for (const [name, value] of secrets.values(accountId)) bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
    if (bytes > maxAllBytes) {
      const message = `set: all secrets together must have at most ${maxAllBytes} bytes. Move large values to secret files.`;
      throw invalidRequest(message);
    }
    return secrets.names(accountId);
  });
}

function refused(name: string, problem: string): ServiceError {
  return invalidRequest(`set.${name}: the value ${problem}.`);
}
