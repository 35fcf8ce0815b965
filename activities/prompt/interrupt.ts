/**
 * Retry class `read-first`: interrupt. If a lost call were simply repeated, it would also interrupt prompts that
 * somebody has queued since. So each attempt reads which prompt is the newest. It repeats the call only if this is
 * still the same prompt as before the first call. A caller that interrupts a second time names its prompt. The call is
 * then made only while a read shows this prompt running.
 */
import { activityInfo } from '@temporalio/activity';
import type { SandboxClient } from '../../src/client/index.js';
import { isMissing } from '../../src/client/missing.js';
import { isFinalPromptStatus } from '../../src/contract/workflow-safe/states.js';
import type { ResultStore } from '../../src/result-store/index.js';
import { type Attempt, currentAttempt, type Spent } from '../retry/attempt.js';
import { effectOf, outcomeUnknown, repeatableFailure } from '../retry/classify.js';
import { createIntentBeats } from '../retry/heartbeat.js';
import { readPromptEnd } from './end.js';
import { type FollowPromptInput, recordReader } from './follow-prompt.js';
import { readHistory } from './history.js';
import { createPromptRecords } from './record.js';

/** The newest prompt before the first call that may have taken effect; null if there was none. */
type Newest = string | null | 'unread';

interface Intent {
  /** Absent if no call may have taken effect. */
  readonly newest?: Newest;
  readonly spent?: Spent;
}

/**
 * Time limit of all reads of the history together, in ms. They must leave time for the call, even if the history is
 * long.
 */
const readTimeoutMs = 8_000;

/**
 * Interrupts the work of one conversation, or of all.
 * @param again the prompt that an earlier interrupt did not end. Nothing is interrupted unless a read shows this prompt
 * running. Default: this is the first interrupt
 * @returns the number of stopped prompts; null if the answer does not tell it; 0 if the sandbox does not exist
 * @throws ApplicationFailure `outcome_unknown` if an answer was lost, and either prompts were queued since or the
 * history could not be read before the call
 */
export function interruptSandboxActivity(client: SandboxClient, results: ResultStore) {
  const records = createPromptRecords(results);
  return async function interruptSandbox(
    sandboxId: string,
    conversationId: string | null,
    again?: FollowPromptInput,
  ): Promise<number | null> {
    const attempt = currentAttempt();
    const earlier = activityInfo().heartbeatDetails as Intent | undefined;
    const beats = createIntentBeats<Intent>(earlier);
    let maybeSent = earlier?.newest !== undefined;
    const spent = (): Spent => ({ calls: attempt.calls(), maybeSent });
    try {
      if (again) {
        const readRecord = recordReader(records, again);
        const { end } = await readPromptEnd(client, again, { attempt, readRecord });
        if (end === undefined || isFinalPromptStatus(end.status)) {
          await beats.stop();
          return 0;
        }
      }
      const newest = await newestOf(client, { sandboxId, conversationId, attempt });
      if (maybeSent && (newest === 'unread' || newest !== earlier?.newest)) {
        const since = newest === 'unread' || earlier?.newest === 'unread' ? 'may have been' : 'were';
        const why = `The answer to the interrupt of ${sandboxId} was lost, and prompts ${since} queued since, which a repeat would interrupt.`;
        throw outcomeUnknown(why, { endpoint: 'interruptSandbox' });
      }
      await beats.record({ newest, spent: spent() });
      const filter = conversationId === null ? {} : { conversation: conversationId };
      const { interrupted } = await attempt.call((signal) => client.interruptSandbox(sandboxId, filter, { signal }));
      await beats.stop();
      return interrupted ?? null;
    } catch (error) {
      await beats.stop();
      if (isMissing(error)) return 0;
      const isWithoutEffect = effectOf(error) === 'none' && !maybeSent;
      maybeSent ||= !isWithoutEffect;
      beats.leave(isWithoutEffect ? { newest: undefined, spent: spent() } : { spent: spent() });
      throw repeatableFailure(error, { maybeSent, pauseMs: attempt.pauseMs });
    }
  };
}

/**
 * The id of the newest prompt's first event; `unread` if the history cannot be read, which must not prevent the call.
 */
async function newestOf(
  client: SandboxClient,
  options: { readonly sandboxId: string; readonly conversationId: string | null; readonly attempt: Attempt },
): Promise<Newest> {
  const { sandboxId, ...reading } = options;
  try {
    const events = await readHistory(client, sandboxId, { ...reading, untilMs: Date.now() + readTimeoutMs });
    return events.findLast(({ type }) => type === 'prompt.queued')?.id ?? null;
  } catch (error) {
    reading.attempt.signal.throwIfAborted();
    if (isMissing(error)) throw error;
    return 'unread';
  }
}
