/** The workflows that a worker registers. */

export { retentionCleanup } from './cleanup/retention-cleanup.js';
export type * from './cleanup/types.js';
export { fanoutChunk } from './fanout/chunk/fanout-chunk.js';
export { forkFanout } from './fanout/fork-fanout.js';
export { fanoutItem } from './fanout/item/fanout-item.js';
export type * from './fanout/progress.js';
export type * from './fanout/result.js';
export type * from './fanout/types.js';
export { createThenPrompt } from './job/create-then-prompt.js';
export type * from './job/progress.js';
export type * from './job/result.js';
export type * from './job/types.js';
export * from './messages.js';
export { deliverNotification } from './notification/deliver-notification.js';
export { stopAndAwaitArchive } from './stop/stop-and-await-archive.js';
export type * from './stop/types.js';
export { sandboxWatch } from './watch/sandbox-watch.js';
