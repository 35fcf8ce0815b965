/** The reads of the service that commands make: repeated while what they meet passes by itself. */
import { listAllSandboxes } from '../../client/areas/sandbox-calls.js';
import type { SandboxClient } from '../../client/index.js';
import type { Ask } from './ask-service.js';

export type ServiceReads = Pick<
  SandboxClient,
  'getMe' | 'getSandbox' | 'getStop' | 'listAllSandboxes' | 'listSandboxes' | 'listWebhooks'
>;

/** Every method throws what `createAsk` says. Each page of a list has its own attempts, so that long lists end too. */
export function createServiceReads(service: ServiceReads, ask: Ask): ServiceReads {
  const reads: ServiceReads = {
    getMe: (options) => ask((call) => service.getMe(call), options),
    getSandbox: (sandboxId, options) => ask((call) => service.getSandbox(sandboxId, call), options),
    getStop: (sandboxId, stopId, options) => ask((call) => service.getStop(sandboxId, stopId, call), options),
    listSandboxes: (query, options) => ask((call) => service.listSandboxes(query, call), options),
    listAllSandboxes: (query, options) => listAllSandboxes(reads.listSandboxes, query, options),
    listWebhooks: (options) => ask((call) => service.listWebhooks(call), options),
  };
  return reads;
}
