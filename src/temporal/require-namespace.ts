/**
 * Checks at the start of a server that Temporal has its namespace and accepts its credentials. A worker with a wrong
 * namespace said that it was ready.
 */
import type { Client } from '@temporalio/client';
import { SandflowError } from '../errors/sandflow-error.js';
import { isNotFound, reasonOf, refusesCredentials, unreachable } from './errors.js';

const timeoutMs = 10_000;

/**
 * Other failures may pass, and are met by who calls Temporal next.
 * @param address names Temporal in the error
 * @throws SandflowError `bad_configuration` if there is no such namespace; `temporal_unreachable` if Temporal refuses
 *   the credentials
 */
export async function requireNamespace(client: Client, address: string): Promise<void> {
  const { namespace } = client.options;
  const ask = () => client.workflowService.describeNamespace({ namespace });
  try {
    await client.withDeadline(Date.now() + timeoutMs, ask);
  } catch (cause) {
    if (isNotFound(cause)) {
      const mend = `Correct TEMPORAL_NAMESPACE, or create the namespace: \`temporal operator namespace create --namespace ${namespace}\``;
      const message = `Temporal at ${address} has no namespace "${namespace}". ${mend}.`;
      throw new SandflowError('bad_configuration', message, { cause });
    }
    if (cause instanceof Error && refusesCredentials(reasonOf(cause))) throw unreachable(address, cause);
  }
}
