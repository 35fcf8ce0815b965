/**
 * Runs accepted prompts: the prompts of one conversation in order, different conversations in parallel (specification,
 * prompt endpoint; assumptions, "Prompt state and sandbox state").
 */
import type { AgentEvent, AgentOutcome } from '../agent/agent.js';
import { changeSandbox, freshArchiveAfter } from '../core/change-sandbox.js';
import type { Context, Core, PromptRunner } from '../core/context.js';
import { acceptsWork } from '../core/machine-states.js';
import { agentEnvironment } from '../environments/on-machine.js';
import { reasonOf } from '../log.js';
import type { PromptEnd, PromptRecord } from '../store/prompt-store.js';

export function createPromptRunner(core: Core): PromptRunner {
  const { database, stores } = core;
  /** `sandboxId/conversationId` → the agent that runs there. */
  const active = new Map<string, { readonly promptId: string; readonly abort: AbortController; done: Promise<void> }>();

  core.closing.addEventListener('abort', () => {
    for (const { abort } of active.values()) abort.abort();
  });

  function wake(sandboxId: string): void {
    for (const { status, conversationId } of stores.prompts.open(sandboxId)) {
      if (status === 'queued') startNext(sandboxId, conversationId);
    }
  }

  function startNext(sandboxId: string, conversationId: string): void {
    const place = `${sandboxId}/${conversationId}`;
    if (core.closing.aborted || active.has(place)) return;
    const prompt = database.transaction(() => {
      const sandbox = stores.sandboxes.get(sandboxId);
      if (!sandbox || !acceptsWork(sandbox)) return undefined;
      const now = core.clock.iso();
      const started = stores.prompts.start(sandboxId, conversationId, now);
      if (started?.startedAt === now) {
        stores.history.add({ sandboxId, conversationId, promptId: started.id, type: 'prompt.started', data: {} });
      }
      return started;
    });
    if (!prompt) return;
    const abort = new AbortController();
    const done = run(prompt, abort.signal).finally(() => {
      active.delete(place);
      startNext(sandboxId, conversationId);
    });
    active.set(place, { promptId: prompt.id, abort, done });
  }

  async function run(prompt: PromptRecord, signal: AbortSignal): Promise<void> {
    const { id, sandboxId, conversationId, provider, model, reasoningEffort, text } = prompt;
    const outcome = await outcomeOf(async () => {
      const agent = core.agentOf(provider);
      if (!agent) return { status: 'failed', error: `The provider ${provider} is not configured.`, result: null };
      const sandbox = stores.sandboxes.get(sandboxId);
      const env = sandbox && agentEnvironment(core, sandbox, provider);
      return agent.run(
        core.host,
        { sandboxId, conversationId, provider, model, reasoningEffort, prompt: text, env },
        {
          signal,
          earlier: emittedBefore(prompt),
          emit(type, data) {
            if (signal.aborted) return;
            stores.history.add({ sandboxId, conversationId, promptId: id, type, data });
          },
        },
      );
    });
    // If the end of the service interrupts a prompt, the next start decides how to continue.
    if (core.closing.aborted) return;
    const { status, result } = outcome;
    const error = outcome.status === 'failed' ? outcome.error : null;
    database.transaction(() => {
      if (end(core, prompt, { status, endedAt: core.clock.iso(), result, error })) settle(core, sandboxId);
    });
  }

  /**
   * The events that the agent emitted before the end of the service interrupted it. None at the first start of a
   * prompt.
   */
  function emittedBefore({ id, sandboxId, conversationId }: PromptRecord): AgentEvent[] {
    const all = { sandboxId, conversationId, afterSeq: 0, untilMs: Number.MAX_SAFE_INTEGER, limit: -1 };
    return stores.history
      .list(all)
      .filter(({ promptId }) => promptId === id)
      .flatMap(({ type, data }) => {
        if (!isOfAgent(type)) return [];
        return [{ type, data: data as AgentEvent['data'] }];
      });
  }

  return {
    wake: (sandboxId) => database.afterCommit(() => wake(sandboxId)),
    interrupt(sandboxId, conversationId) {
      return database.transaction(() => {
        const open = stores.prompts
          .open(sandboxId)
          .filter((prompt) => conversationId === undefined || prompt.conversationId === conversationId);
        const endedAt = core.clock.iso();
        for (const prompt of open) {
          end(core, prompt, { status: 'interrupted', endedAt, result: null, error: null });
          const agent = active.get(`${sandboxId}/${prompt.conversationId}`);
          if (agent?.promptId === prompt.id) database.afterCommit(() => agent.abort.abort());
        }
        if (open.length > 0) settle(core, sandboxId);
        return open.length;
      });
    },
    async idle() {
      while (active.size > 0) await Promise.all([...active.values()].map(({ done }) => done));
    },
  };
}

function isOfAgent(type: string): type is AgentEvent['type'] {
  return type === 'agent.message' || type === 'agent.tool' || type === 'agent.usage';
}

async function outcomeOf(run: () => Promise<AgentOutcome>): Promise<AgentOutcome> {
  try {
    return await run();
  } catch (cause) {
    return { status: 'failed', error: reasonOf(cause), result: null };
  }
}

/** Ends a prompt and records the event of its end. False if the prompt has ended already. */
export function end(core: Pick<Core, 'stores'>, prompt: PromptRecord, how: PromptEnd): boolean {
  if (!core.stores.prompts.end(prompt.id, how)) return false;
  const { id: promptId, sandboxId, conversationId } = prompt;
  const data = how.error === null ? { result: how.result } : { error: how.error, result: how.result };
  core.stores.history.add({ sandboxId, conversationId, promptId, type: `prompt.${how.status}`, data });
  return true;
}

/** Makes a running sandbox idle if it has no open prompt. Its full time to live begins again. */
export function settle(
  core: Pick<Core, 'database' | 'stores' | 'publish' | 'clock' | 'schedule'>,
  sandboxId: string,
): void {
  const sandbox = core.stores.sandboxes.get(sandboxId);
  if (sandbox?.state !== 'running' || core.stores.prompts.open(sandboxId).length > 0) return;
  changeSandbox(core, sandbox, { state: 'idle', archiveAfter: freshArchiveAfter(core.clock, sandbox.ttlSeconds) });
}

/**
 * Queues interrupted prompts again, if their agent can continue. Ends the other interrupted prompts, because their work
 * could otherwise be done twice. Scheduled work and deliveries continue by themselves.
 * @returns the sandboxes whose queued prompts wait for `wake`
 */
export function recoverPrompts(context: Context): ReadonlySet<string> {
  const { stores } = context;
  const touched = new Set<string>();
  context.database.transaction(() => {
    for (const prompt of stores.prompts.allOpen()) {
      touched.add(prompt.sandboxId);
      if (prompt.status !== 'running') continue;
      if (context.agentOf(prompt.provider)?.canGoOn) {
        stores.prompts.requeue(prompt.id);
        continue;
      }
      end(context, prompt, {
        status: 'failed',
        endedAt: context.clock.iso(),
        result: null,
        error: 'The service was restarted while this prompt was running. Its progress is unknown.',
      });
    }
    for (const sandbox of stores.sandboxes.living()) if (sandbox.state === 'running') settle(context, sandbox.id);
  });
  return touched;
}
