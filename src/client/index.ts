/** The typed client of the Sandbox Service and its errors. */
export { ApiError, type ApiErrorFields } from './api-error.js';
export { ConnectionError } from './connection-error.js';
export { createSandboxClient, type SandboxClientOptions } from './create-sandbox-client.js';
export type {
  CallOptions,
  CallRecord,
  ConversationQuery,
  CreateOptions,
  ListEventsQuery,
  ListSandboxesQuery,
  SandboxClient,
} from './sandbox-client.js';
export { stableJson } from './stable-json.js';
export { TimeoutError } from './timeout-error.js';
export { UnexpectedResponseError } from './unexpected-response-error.js';
