/**
 * Building blocks for your own workflows that wait for sandboxes: record `sandboxEvent` signals in an `EventInbox`,
 * then call `until`.
 */

export type { Wake } from './job/result.js';
export type { JobTiming } from './job/types.js';
export { type SandboxEvent, sandboxEventSignal, type WatchRegistration } from './messages.js';
export { EventInbox, type InboxMark } from './shared/event-inbox.js';
export { type UntilOptions, until } from './shared/until.js';
export { defaultTiming } from './shared/wait-intervals.js';
