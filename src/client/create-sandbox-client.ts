import type { Dispatcher } from 'undici';
import { accountCalls } from './areas/account-calls.js';
import { apiKeyCalls } from './areas/api-key-calls.js';
import { environmentCalls } from './areas/environment-calls.js';
import { machineCalls } from './areas/machine-calls.js';
import { sandboxCalls } from './areas/sandbox-calls.js';
import { snapshotCalls } from './areas/snapshot-calls.js';
import { webhookCalls } from './areas/webhook-calls.js';
import { workCalls } from './areas/work-calls.js';
import type { CallRecord } from './call-options.js';
import { createCaller } from './caller.js';
import type { SandboxClient } from './sandbox-client.js';

/** Options of `createSandboxClient`. */
export interface SandboxClientOptions {
  /** Base URL up to and including the version, such as `https://api.example.com/v1`. */
  readonly baseUrl: string;
  /** Whether the base URL may be `http://` on another machine, which sends the key in plain text. Default: false. */
  readonly allowHttp?: boolean;
  /** The key, or a function that is called at every call, so that a key can be replaced under a running worker. */
  readonly apiKey: string | (() => string | Promise<string>);
  /** Deadline per call in ms, over waiting for a connection, connect, headers and body. Default: 30 000. */
  readonly timeoutMs?: number;
  /** Maximum number of open connections; further calls wait. Default: 128. */
  readonly connections?: number;
  /** Called after every call, for metrics. */
  readonly onCall?: (record: CallRecord) => void;
  /** Sends the requests instead of a connection pool; for tests. The client closes it. */
  readonly dispatcher?: Dispatcher;
}

/**
 * Creates a client of the Sandbox Service on a pool of keep-alive connections. Opens no connection before the first call.
 * @throws SandflowError `bad_configuration` if the base URL is invalid or would send the key in plain text
 */
export function createSandboxClient(options: SandboxClientOptions): SandboxClient {
  const { call, open, request, close } = createCaller({
    ...options,
    timeoutMs: options.timeoutMs ?? 30_000,
    connections: options.connections ?? 128,
  });
  return {
    ...accountCalls(call),
    ...sandboxCalls(call),
    ...workCalls(call),
    ...machineCalls(call, open),
    ...snapshotCalls(call, open),
    ...environmentCalls(call),
    ...webhookCalls(call),
    ...apiKeyCalls(call),
    request,
    close,
  };
}
