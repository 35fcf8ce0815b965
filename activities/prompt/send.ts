/**
 * Retry class `evidence`: prompt. The service accepts no idempotency key for a prompt (trap S3); see
 * `retry/send-at-most-once.ts`.
 */
import { activityInfo } from '@temporalio/activity';
import { type SandboxClient, UnexpectedResponseError } from '../../src/client/index.js';
import { isMissing, isUnreadable } from '../../src/client/missing.js';
import type { PromptBody } from '../../src/contract/requests/sandbox-requests.js';
import type { OtherFields } from '../../src/contract/workflow-safe/other-fields.js';
import { timeToSend } from '../../src/contract/workflow-safe/transfer-time.js';
import { bytesOf, type Text } from '../../src/protocol/stored-text.js';
import type { ResultStore } from '../../src/result-store/index.js';
import { createKnownTexts } from '../../src/texts/known-texts.js';
import { type Attempt, currentAttempt, repeatable, whileAttemptLives } from '../retry/attempt.js';
import { type Earlier, sendOnce } from '../retry/send-at-most-once.js';
import { readText } from '../store/texts.js';
import { findPromptEvidence, type PromptQuery, readQueuedPrompts } from './evidence.js';
import {
  createPromptRecords,
  type HistoryBefore,
  type PromptEvidence,
  type PromptRecord,
  type PromptRecords,
  recordOf,
} from './record.js';

export interface SendPromptInput {
  readonly query: PromptQuery;
  readonly body: Omit<PromptBody, 'prompt'> & { readonly prompt: Text } & OtherFields;
  /**
   * - `ask_record`: the record in the result store shows whether an earlier run may have sent the prompt. Without a
   *   record, it was not sent.
   * - `doubt`: like `ask_record`, but if there is no record, it is unknown whether the prompt was sent. An example is a
   *   reset on a worker with another store.
   * - `known_not`: this run knows that it was not sent, or a person decided to send it again.
   */
  readonly earlier: 'ask_record' | 'doubt' | 'known_not';
}

const emptyHistory: HistoryBefore = { queued: [], since: null, rest: null };

/** A history that no repeat makes readable keeps no prompt from being sent. */
function unreadHistory(error: unknown): HistoryBefore {
  if (!isUnreadable(error)) throw error;
  return { ...emptyHistory, unread: true };
}

/** The most states that are remembered: a batch has at most a thousand sources. */
const maxEmptyForks = 1_000;

/** Time limit of the reads before the prompt is sent. They must leave time for the call. */
const recordTimeoutMs = 8_000;
/** Of the record once Temporal has the intent, in ms. A store that hangs must not cost what is known otherwise. */
const briefly = { withinMs: 3_000 };

/**
 * Queues a prompt. Sends it at most once, even across runs that share the record.
 *
 * @throws ApplicationFailure `outcome_unknown` if it is unknown whether the prompt was accepted; `result_not_found` if
 *   the prompt's text is in a store that this worker does not use
 */
export function sendPromptActivity(client: SandboxClient, results: ResultStore) {
  const records = createPromptRecords(results);
  /** The states whose forks begin without prompts, as one of them has shown: all forks of a state begin alike. */
  const emptyForks = createKnownTexts(maxEmptyForks);
  return async function sendPrompt(input: SendPromptInput): Promise<PromptEvidence> {
    const { query, body } = input;
    const { sandboxId, recordKey } = query;
    const attempt = currentAttempt();
    const by = makerOf();
    // No earlier call can have prompted in this sandbox, so there is no record, and only a fork can have a history.
    const { isFirst = false, firstOfFork } = attempt.attempt === 1 ? query : {};
    const isNew = isFirst || firstOfFork !== undefined;
    const state = JSON.stringify(firstOfFork ?? null);
    const isEmpty = isFirst || emptyForks.has(state);
    let prompt = '';
    return sendOnce<PromptEvidence, PromptRecord>({
      endpoint: 'sendPrompt',
      attempt,
      what: 'the prompt',
      noEvidence: query.isOwnSandbox
        ? `the history of ${sandboxId} does not show it`
        : `the history of ${sandboxId} is no proof, because it also has the prompts of others`,
      earlier: async () => (isNew ? { was: 'not_sent' } : whatOthersDid(input, by, records)),
      async before() {
        prompt = await readText(results, body.prompt);
        const { previousRecordKey } = query;
        const previous = previousRecordKey === undefined ? null : await records.read(previousRecordKey);
        const options = { attempt, timeoutMs: recordTimeoutMs, previous };
        const history = isEmpty ? emptyHistory : await readQueuedPrompts(client, query, options).catch(unreadHistory);
        const { queued, unread, isPart } = history;
        const isWhole = !unread && !isPart && query.conversationId === null;
        if (firstOfFork && isWhole && queued.length === 0) emptyForks.add(state);
        return { ...recordOf(history, previous), by };
      },
      store: (record, { recorded, withinMs }) => records.write(recordKey, record, { after: recorded, withinMs }),
      longestMs: timeToSend(bytesOf(body.prompt)),
      send: (timeoutMs) => send(client, query, { body: { ...body, prompt }, timeoutMs }),
      async look(record = undefined) {
        // A worker that was killed may have received the answer, and recorded it.
        const recorded = await whileAttemptLives(() => records.read(recordKey), briefly).catch(() => null);
        if (recorded?.by === by && recorded.accepted) return recorded.accepted;
        return findPromptEvidence(query, { client, attempt, text: body.prompt, record: record ?? null });
      },
      settled: (record, accepted) =>
        records.write(recordKey, { ...record, phase: accepted === null ? 'not_sent' : 'accepted', accepted }, briefly),
    });
  };
}

/** Identifies this activity across all its attempts. */
function makerOf(): string {
  const { workflowExecution, activityId } = activityInfo();
  return `${workflowExecution?.runId ?? ''}/${activityId}`;
}

async function whatOthersDid(
  { query, earlier }: SendPromptInput,
  by: string,
  records: PromptRecords,
): Promise<Earlier<PromptEvidence, PromptRecord>> {
  if (earlier === 'known_not') return { was: 'not_sent' };
  const record = await records.read(query.recordKey);
  if (record?.phase === 'accepted' && record.accepted) return { was: 'accepted', value: record.accepted };
  // If this activity itself wrote the record, nothing was sent. Otherwise its intent would also be recorded in
  // Temporal.
  if (record?.phase === 'sending' && record.by !== by) return { was: 'perhaps_sent', known: record };
  if (record === null && earlier === 'doubt') return { was: 'perhaps_sent', known: undefined };
  return { was: 'not_sent' };
}

async function send(
  client: SandboxClient,
  query: PromptQuery,
  { body, timeoutMs }: { readonly body: PromptBody; readonly timeoutMs: number },
): Promise<PromptEvidence> {
  const { sandboxId, conversationId, knownConversationIds, knownPromptIds } = query;
  const answer = await client.sendPrompt(sandboxId, body, { timeoutMs });
  const isOurs = conversationId === null || answer.conversationId === conversationId;
  const isNew = conversationId !== null || !knownConversationIds.includes(answer.conversationId);
  const wrong = (field: string, why: string) => new UnexpectedResponseError('sendPrompt', 202, field, why);
  if (!isOurs || !isNew) throw wrong('conversationId', 'does not belong to the requested conversation');
  if (answer.promptId != null && knownPromptIds.includes(answer.promptId))
    throw wrong('promptId', 'belongs to another prompt');
  return { promptId: answer.promptId ?? null, conversationId: answer.conversationId };
}

export interface FindPromptInput {
  readonly query: PromptQuery;
  readonly text: Text;
  /** True if the answer of the service is known to be wrong. Default: false. */
  readonly despiteAnswer?: boolean;
}

/** Reads that search for a prompt that may have been sent. */
export function createPromptReads(client: SandboxClient, results: ResultStore) {
  const records = createPromptRecords(results);
  return {
    /**
     * Searches for evidence that a prompt was accepted; null if there is no evidence, which proves nothing. Safe to
     * repeat.
     */
    async findPrompt({ query, text, despiteAnswer = false }: FindPromptInput): Promise<PromptEvidence | null> {
      return repeatable(async (attempt: Attempt) => {
        const record = await records.read(query.recordKey);
        if (record?.accepted && !despiteAnswer) return record.accepted;
        try {
          return await findPromptEvidence(query, { client, attempt, text, record });
        } catch (error) {
          if (isMissing(error) || !isUnreadable(error)) throw error;
          return null;
        }
      });
    },

    /** Reads what the record of a prompt says; null without a record. Makes no calls to the service. */
    async readPromptRecord(recordKey: string): Promise<Pick<PromptRecord, 'phase' | 'accepted'> | null> {
      const record = await records.read(recordKey);
      return record && { phase: record.phase, accepted: record.accepted };
    },
  };
}
