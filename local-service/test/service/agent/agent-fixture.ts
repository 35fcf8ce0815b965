/** Runs agents in real sandboxes and keeps what they emit. */
import type { Agent, AgentEvent, AgentOutcome } from '../../../src/agent/index.js';
import type { MachineHost } from '../../../src/machine/index.js';
import { ownSandboxId } from '../machine/machine-fixture.js';

export interface EmittedEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface AgentRunOptions {
  readonly signal?: AbortSignal;
  readonly earlier?: readonly AgentEvent[];
  readonly onEvent?: (event: EmittedEvent) => void;
  readonly model?: string;
}

export async function runAgent(
  agent: Agent | undefined,
  host: MachineHost,
  prompt: string,
  { signal = new AbortController().signal, onEvent, model, earlier = [] }: AgentRunOptions = {},
): Promise<{ outcome: AgentOutcome; events: EmittedEvent[] }> {
  if (agent === undefined) throw new Error('There is no such agent.');
  const events: EmittedEvent[] = [];
  const request = { sandboxId: ownSandboxId, prompt, provider: 'codex', model: model ?? null, reasoningEffort: null };
  const outcome = await agent.run(
    host,
    { ...request, conversationId: `conv_${'1'.repeat(24)}` },
    {
      signal,
      earlier,
      emit(type, data) {
        events.push({ type, data });
        onEvent?.({ type, data });
      },
    },
  );
  return { outcome, events };
}
