/** The workflows that a worker registers. */
export { createThenPrompt } from './create-then-prompt.js';
export * from './job.js';
export * from './messages.js';
export { sandboxWatch } from './sandbox-watch.js';
export type * from './stop.js';
export { stopAndAwaitArchive } from './stop-and-await-archive.js';
