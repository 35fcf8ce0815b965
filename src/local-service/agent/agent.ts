/** An agent of the local service: what runs a prompt inside a sandbox. */
import type { MachineHost } from '../machine/machine-host.js';

export interface AgentPrompt {
  readonly sandboxId: string;
  readonly prompt: string;
  readonly provider: string;
  readonly model: string | null;
  readonly reasoningEffort: string | null;
  readonly conversationId: string;
}

export interface AgentRun {
  /** `agent.message` with `{text}`, `agent.tool` with `{command, exitCode, output}`. */
  readonly emit: (type: 'agent.message' | 'agent.tool', data: Readonly<Record<string, unknown>>) => void;
  /** Aborted by an interrupt, a stop or the end of the service. */
  readonly signal: AbortSignal;
}

export type AgentOutcome =
  | { readonly status: 'completed'; readonly result: string }
  | { readonly status: 'failed'; readonly error: string; readonly result: string | null }
  | { readonly status: 'interrupted'; readonly result: string | null };

export interface Agent {
  run(host: MachineHost, prompt: AgentPrompt, run: AgentRun): Promise<AgentOutcome>;
}
