/** The typed client of the Sandbox Service and its errors. */
export { ApiError, type ApiErrorFields } from './api-error.js';
export type { DesktopRequest } from './areas/machine-calls.js';
export type { ListSandboxesQuery } from './areas/sandbox-calls.js';
export type { SnapshotTreeQuery } from './areas/snapshot-calls.js';
export type { ConversationQuery, ListEventsQuery } from './areas/work-calls.js';
export type { CallName, CallOptions, CallRecord, CreateOptions, StreamOptions } from './call-options.js';
export { ConnectionError } from './connection-error.js';
export { createSandboxClient, type SandboxClientOptions } from './create-sandbox-client.js';
export type { DownloadStream, SavedDownload, SaveOptions } from './download.js';
export type { PlainRequest, PlainResponse } from './plain-request.js';
export type { SandboxClient } from './sandbox-client.js';
export { stableJson } from './stable-json.js';
export { TimeoutError } from './timeout-error.js';
export { UnexpectedResponseError } from './unexpected-response-error.js';
