/** Reads the agent's output during a watch. */
import type { JobProgress } from '../../../workflows/job/progress.js';
import type { SandboxClient } from '../../client/index.js';
import type { SandboxHistoryEvent } from '../../contract/records.js';

const pageSize = 200;

export interface AgentOutput {
  /** Prints new events of all conversations of the job. Never throws: a failed read must not end the watch. */
  readOn(progress: Pick<JobProgress, 'sandboxId' | 'prompts'>, signal: AbortSignal): Promise<void>;
}

export function createAgentOutput(service: SandboxClient, print: (text: string) => void): AgentOutput {
  let shown = '\n';
  const cursors = new Map<string, string | undefined>();

  async function readConversation(sandboxId: string, conversation: string, signal: AbortSignal): Promise<void> {
    const after = cursors.get(conversation);
    const { events } = await service.listEvents(sandboxId, { conversation, after, limit: pageSize }, { signal });
    // A service that ignores `after` sends everything again: skip what was shown.
    const known = events.findIndex(({ id }) => id === after);
    for (const event of events.slice(known + 1)) {
      const text = textOf(event);
      // An agent may answer with the output of its command, which was shown already.
      if (text !== undefined && !shown.endsWith(text.trim())) print(text);
      shown = text?.trim() ?? shown;
    }
    const last = events.at(-1);
    if (last) cursors.set(conversation, last.id);
  }

  return {
    async readOn({ sandboxId, prompts }, signal) {
      if (sandboxId === null) return;
      const conversations = new Set(prompts.map(({ conversationId }) => conversationId));
      for (const conversation of conversations) {
        if (conversation === null) continue;
        await readConversation(sandboxId, conversation, signal).catch(() => undefined);
      }
    },
  };
}

function textOf({ type, data }: SandboxHistoryEvent): string | undefined {
  if (type === 'agent.message') return typeof data?.text === 'string' ? data.text : undefined;
  if (type !== 'agent.tool' || typeof data?.command !== 'string') return undefined;
  const exit = typeof data.exitCode === 'number' && data.exitCode !== 0 ? ` (exit ${data.exitCode})` : '';
  const output = typeof data.output === 'string' && data.output !== '' ? `\n${data.output}` : '';
  return `$ ${data.command.trimEnd()}${exit}${output}`;
}
