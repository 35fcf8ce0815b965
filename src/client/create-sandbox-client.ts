import type { Dispatcher } from 'undici';
import { pathOf } from '../contract/endpoints.js';
import { createCaller } from './caller.js';
import { listAllSandboxes } from './list-all-sandboxes.js';
import type { CallRecord, SandboxClient } from './sandbox-client.js';

export interface SandboxClientOptions {
  /** Base URL up to and including the version, such as `https://api.example.com/v1`. */
  readonly baseUrl: string;
  /** The key, or a function that is called at every call, so that a key can be replaced under a running worker. */
  readonly apiKey: string | (() => string | Promise<string>);
  /** Deadline per call in ms, over waiting for a connection, connect, headers and body. Default: 30 000. */
  readonly timeoutMs?: number;
  /** The most connections that are open at once; further calls wait their turn. Default: 128. */
  readonly connections?: number;
  /** Called after every call, for metrics. */
  readonly onCall?: (record: CallRecord) => void;
  /** What sends the requests, in place of a connection pool; for tests. The client closes it. */
  readonly dispatcher?: Dispatcher;
}

/**
 * Creates a client of the Sandbox Service on a pool of keep-alive connections. Opens no connection before the first call.
 * @throws SandflowError `bad_configuration` for a base URL that is none
 */
export function createSandboxClient(options: SandboxClientOptions): SandboxClient {
  const { call, close } = createCaller({
    ...options,
    timeoutMs: options.timeoutMs ?? 30_000,
    connections: options.connections ?? 128,
  });
  const client: SandboxClient = {
    getMe: (o) => call('getMe', { path: pathOf('getMe', {}) }, o),
    listProviderModels: (o) => call('listProviderModels', { path: pathOf('listProviderModels', {}) }, o),
    getDeletionOperation: (operationId, o) =>
      call('getDeletionOperation', { path: pathOf('getDeletionOperation', { operationId }) }, o),

    listSandboxes: (query, o) => call('listSandboxes', { path: pathOf('listSandboxes', {}), query }, o),
    listAllSandboxes: (query, o) => listAllSandboxes(client.listSandboxes, query, o),
    createSandbox: (body = {}, o) => call('createSandbox', { path: pathOf('createSandbox', {}), body }, o),
    getSandbox: (sandboxId, o) => call('getSandbox', { path: pathOf('getSandbox', { sandboxId }) }, o),
    updateSandbox: (sandboxId, body, o) =>
      call('updateSandbox', { path: pathOf('updateSandbox', { sandboxId }), body }, o),
    deleteSandbox: (sandboxId, o) =>
      call('deleteSandbox', { path: pathOf('deleteSandbox', { sandboxId }), confirmDelete: sandboxId }, o),
    stopSandbox: (sandboxId, o) => call('stopSandbox', { path: pathOf('stopSandbox', { sandboxId }) }, o),
    getStop: (sandboxId, stopId, o) => call('getStop', { path: pathOf('getStop', { sandboxId, stopId }) }, o),
    resumeSandbox: (sandboxId, body, o) =>
      call('resumeSandbox', { path: pathOf('resumeSandbox', { sandboxId }), body }, o),

    sendPrompt: (sandboxId, body, o) => call('sendPrompt', { path: pathOf('sendPrompt', { sandboxId }), body }, o),
    getPrompt: (sandboxId, promptId, o) => call('getPrompt', { path: pathOf('getPrompt', { sandboxId, promptId }) }, o),
    listEvents: (sandboxId, query, o) => call('listEvents', { path: pathOf('listEvents', { sandboxId }), query }, o),
    interruptSandbox: (sandboxId, query, o) =>
      call('interruptSandbox', { path: pathOf('interruptSandbox', { sandboxId }), query }, o),

    readFile: (sandboxId, path, o) => call('readFile', { path: pathOf('readFile', { sandboxId }), query: { path } }, o),
    writeFile: (sandboxId, body, o) => call('writeFile', { path: pathOf('writeFile', { sandboxId }), body }, o),
    runCommand: (sandboxId, body, o) => call('runCommand', { path: pathOf('runCommand', { sandboxId }), body }, o),

    createWebhook: (body, o) => call('createWebhook', { path: pathOf('createWebhook', {}), body }, o),
    listWebhooks: (o) => call('listWebhooks', { path: pathOf('listWebhooks', {}) }, o),
    getWebhook: (webhookId, o) => call('getWebhook', { path: pathOf('getWebhook', { webhookId }) }, o),
    updateWebhook: (webhookId, body, o) =>
      call('updateWebhook', { path: pathOf('updateWebhook', { webhookId }), body }, o),
    deleteWebhook: (webhookId, o) => call('deleteWebhook', { path: pathOf('deleteWebhook', { webhookId }) }, o),
    rotateWebhookSecret: (webhookId, o) =>
      call('rotateWebhookSecret', { path: pathOf('rotateWebhookSecret', { webhookId }) }, o),

    close,
  };
  return client;
}
