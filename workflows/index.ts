/** The workflows that a worker registers. */
export type * from './cleanup.js';
export { createThenPrompt } from './create-then-prompt.js';
export { deliverNotification } from './deliver-notification.js';
export type * from './fanout.js';
export { fanoutChunk } from './fanout-chunk.js';
export { fanoutItem } from './fanout-item.js';
export { forkFanout } from './fork-fanout.js';
export * from './job.js';
export * from './messages.js';
export { retentionCleanup } from './retention-cleanup.js';
export { sandboxWatch } from './sandbox-watch.js';
export type * from './stop.js';
export { stopAndAwaitArchive } from './stop-and-await-archive.js';
