/**
 * Building blocks for your own workflows that wait for sandboxes: record `sandboxEvent` signals in an `EventInbox`,
 * then call `until`. `ownSandbox` and `ownPrompt` make the keys and names that their calls need, `ownJob` a job
 * as a child.
 */

export type { JobTiming, NewJob } from '../src/protocol/job/job-input.js';
export type { Wake } from '../src/protocol/job/job-result.js';
export { type SandboxEvent, sandboxEventSignal, type WatchRegistration } from '../src/protocol/messages.js';
export {
  type OwnPrompt,
  type OwnSandboxCall,
  type OwnSandboxKey,
  ownJob,
  ownName,
  ownPrompt,
  ownSandbox,
} from './own-calls.js';
export { EventInbox, type InboxMark } from './shared/event-inbox.js';
export { type UntilOptions, until } from './shared/until.js';
export { defaultTiming } from './shared/wait-intervals.js';
