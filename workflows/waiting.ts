/** For workflows of your own that wait for sandboxes: hand your `sandboxEvent` signals to an inbox, then `until`. */

export type { JobTiming, Wake } from './job/types.js';
export { type SandboxEvent, sandboxEventSignal, type WatchRegistration } from './messages.js';
export { EventInbox, type InboxMark } from './shared/event-inbox.js';
export { defaultTiming } from './shared/timing.js';
export { type UntilOptions, until } from './shared/until.js';
