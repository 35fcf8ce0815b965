import type { AccountCalls } from './areas/account-calls.js';
import type { ApiKeyCalls } from './areas/api-key-calls.js';
import type { EnvironmentCalls } from './areas/environment-calls.js';
import type { MachineCalls } from './areas/machine-calls.js';
import type { SandboxCalls } from './areas/sandbox-calls.js';
import type { SnapshotCalls } from './areas/snapshot-calls.js';
import type { WebhookCalls } from './areas/webhook-calls.js';
import type { WorkCalls } from './areas/work-calls.js';
import type { StreamOptions } from './call-options.js';
import type { PlainRequest, PlainResponse } from './plain-request.js';

/**
 * The service's endpoints as typed methods. Each call is exactly one attempt and resolves to the whole parsed body.
 * Whether a call may be repeated after a failure is `endpoints[name].retry` of the contract.
 *
 * Every method throws `ApiError` (an answer other than 2xx), `ConnectionError` or `TimeoutError` (no whole answer; see
 * `requestSent`), `UnexpectedResponseError` (a 2xx that lacks what callers need), or the reason of an aborted signal.
 *
 * Downloads (`download…` to a file, `open…` as a stream) hold a fraction of a MiB in memory, whatever their size; their
 * `timeoutMs` is the longest silence and not a deadline for the whole.
 */
export interface SandboxClient
  extends AccountCalls,
    SandboxCalls,
    WorkCalls,
    MachineCalls,
    SnapshotCalls,
    EnvironmentCalls,
    WebhookCalls,
    ApiKeyCalls {
  /**
   * Sends any request under the base URL and resolves to the answer as it is, whatever its status. For tools; the
   * other methods are typed.
   */
  request(request: PlainRequest, options?: StreamOptions): Promise<PlainResponse>;

  /** Lets calls that are under way finish, then closes the connections. No calls after it. */
  close(): Promise<void>;
}
