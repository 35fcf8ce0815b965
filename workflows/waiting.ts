/** For workflows of your own that wait for sandboxes: hand your `sandboxEvent` signals to an inbox, then `until`. */
export { EventInbox, type InboxMark } from './event-inbox.js';
export type { JobTiming, Wake } from './job.js';
export { type SandboxEvent, sandboxEventSignal, type WatchRegistration } from './messages.js';
export { defaultTiming } from './timing.js';
export { type UntilOptions, until } from './until.js';
