/** The workflows that a worker registers. */

export type * from '../src/protocol/cleanup.js';
export type * from '../src/protocol/fanout/fanout-input.js';
export type * from '../src/protocol/fanout/fanout-progress.js';
export type * from '../src/protocol/fanout/fanout-result.js';
export type * from '../src/protocol/job/job-input.js';
export type * from '../src/protocol/job/job-progress.js';
export type * from '../src/protocol/job/job-result.js';
export * from '../src/protocol/messages.js';
export type * from '../src/protocol/schedule.js';
export type * from '../src/protocol/stop.js';
export { retentionCleanup } from './cleanup/retention-cleanup.js';
export { fanoutChunk } from './fanout/chunk/fanout-chunk.js';
export { forkFanout } from './fanout/fork-fanout.js';
export { fanoutItem } from './fanout/item/fanout-item.js';
export { promptFollower } from './follower/prompt-follower.js';
export { createThenPrompt } from './job/create-then-prompt.js';
export { deliverNotification } from './notification/deliver-notification.js';
export { scheduledRun } from './schedule/scheduled-run.js';
export { stopAndAwaitArchive } from './stop/stop-and-await-archive.js';
export { sandboxWatch } from './watch/sandbox-watch.js';
