/** Prompts with their text; the order of `seq` is the order in which they were accepted. */
import type { PromptStatus } from '../../../src/contract/workflow-safe/states.js';
import type { Database } from './database.js';

export interface PromptRecord {
  readonly seq: number;
  readonly id: string;
  readonly sandboxId: string;
  readonly conversationId: string;
  readonly provider: string;
  readonly model: string | null;
  readonly reasoningEffort: string | null;
  readonly text: string;
  readonly status: PromptStatus;
  readonly queuedAt: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly result: string | null;
  readonly error: string | null;
}

type NewPrompt = Pick<
  PromptRecord,
  'id' | 'sandboxId' | 'conversationId' | 'provider' | 'model' | 'reasoningEffort' | 'text' | 'queuedAt'
>;

export interface PromptEnd {
  readonly status: 'completed' | 'failed' | 'interrupted';
  readonly endedAt: string;
  readonly result: string | null;
  readonly error: string | null;
}

export function createPromptStore(database: Database) {
  const get = database.prepare<PromptRecord>('SELECT * FROM prompts WHERE id = ?');
  const add = database.prepare(
    `INSERT INTO prompts (id, sandboxId, conversationId, provider, model, reasoningEffort, text, status, queuedAt)
     VALUES (?, ?, ?, ?, ?, ?, ?, 'queued', ?)`,
  );
  const next = database.prepare<PromptRecord>(
    `SELECT * FROM prompts WHERE sandboxId = ? AND status IN ('queued', 'running') AND conversationId = ?
     AND status = 'queued' ORDER BY seq LIMIT 1`,
  );
  const start = database.prepare(
    "UPDATE prompts SET status = 'running', startedAt = COALESCE(startedAt, ?) WHERE id = ?",
  );
  const requeue = database.prepare("UPDATE prompts SET status = 'queued' WHERE id = ? AND status = 'running'");
  const end = database.prepare(
    `UPDATE prompts SET status = ?, endedAt = ?, result = ?, error = ?
     WHERE id = ? AND status IN ('queued', 'running')`,
  );
  const open = database.prepare<PromptRecord>(
    "SELECT * FROM prompts WHERE sandboxId = ? AND status IN ('queued', 'running') ORDER BY seq",
  );
  const allOpen = database.prepare<PromptRecord>(
    "SELECT * FROM prompts WHERE status IN ('queued', 'running') ORDER BY seq",
  );
  const inConversation = database.prepare(
    'SELECT 1 AS found FROM prompts WHERE sandboxId = ? AND conversationId = ? LIMIT 1',
  );
  const latest = database.prepare<{ conversationId: string }>(
    'SELECT conversationId FROM prompts WHERE sandboxId = ? ORDER BY seq DESC LIMIT 1',
  );
  const conversations = database.prepare<{ conversationId: string }>(
    'SELECT conversationId FROM prompts WHERE sandboxId = ? GROUP BY conversationId ORDER BY MIN(seq)',
  );
  const of = database.prepare<PromptRecord>('SELECT * FROM prompts WHERE sandboxId = ? ORDER BY seq');
  const all = database.prepare<PromptRecord>('SELECT * FROM prompts ORDER BY seq');

  return {
    get: (promptId: string) => get.get(promptId),
    add(prompt: NewPrompt) {
      const { id, sandboxId, conversationId, provider, model, reasoningEffort, text, queuedAt } = prompt;
      add.run(id, sandboxId, conversationId, provider, model, reasoningEffort, text, queuedAt);
    },
    /** Takes the oldest queued prompt of a conversation and marks it running. */
    start(sandboxId: string, conversationId: string, startedAt: string): PromptRecord | undefined {
      const prompt = next.get(sandboxId, conversationId);
      if (!prompt) return undefined;
      start.run(startedAt, prompt.id);
      return { ...prompt, status: 'running', startedAt: prompt.startedAt ?? startedAt };
    },
    /** Puts a running prompt back to the head of its conversation; it keeps the time of its first start. */
    requeue(promptId: string) {
      requeue.run(promptId);
    },
    /** Ends a prompt. False when it has ended already. */
    end: (promptId: string, { status, endedAt, result, error }: PromptEnd) =>
      end.run(status, endedAt, result, error, promptId).changes > 0,
    /** The queued and running prompts of a sandbox, in order. */
    open: (sandboxId: string) => open.all(sandboxId),
    allOpen: () => allOpen.all(),
    hasConversation: (sandboxId: string, conversationId: string) =>
      inConversation.get(sandboxId, conversationId) !== undefined,
    latestConversation: (sandboxId: string) => latest.get(sandboxId)?.conversationId,
    /** Oldest first. */
    conversationsOf: (sandboxId: string) => conversations.all(sandboxId).map(({ conversationId }) => conversationId),
    of: (sandboxId: string) => of.all(sandboxId),
    all: () => all.all(),
  };
}
