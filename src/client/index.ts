/** The typed client of the Sandbox Service and its errors. */

export { stableJson } from '../texts/stable-json.js';
export type { DesktopRequest } from './areas/machine-calls.js';
export type { ListSandboxesQuery } from './areas/sandbox-calls.js';
export type { SnapshotTreeQuery } from './areas/snapshot-calls.js';
export type { ConversationQuery, ListEventsQuery } from './areas/work-calls.js';
export type {
  CallName,
  CallOptions,
  CallRecord,
  CreateOptions,
  ListAllOptions,
  PlainRequest,
  PlainResponse,
  SandboxClientOptions,
  StreamOptions,
} from './call-options.js';
export { createSandboxClient, type SandboxClient } from './create-sandbox-client.js';
export type { DownloadStream, SavedDownload, SaveOptions } from './download.js';
export {
  ApiError,
  type ApiErrorFields,
  ConnectionError,
  ListIncompleteError,
  TimeoutError,
  UnexpectedResponseError,
} from './errors.js';
