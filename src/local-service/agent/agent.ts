/** An agent of the local service: what runs a prompt inside a sandbox. */
import type { MachineHost } from '../machine/machine-host.js';

interface AgentPrompt {
  readonly sandboxId: string;
  readonly prompt: string;
  readonly provider: string;
  readonly model: string | null;
  readonly reasoningEffort: string | null;
  readonly conversationId: string;
  /** What everything that is started in the sandbox gets. Holds secrets. Default: nothing. */
  readonly env?: Readonly<Record<string, string>>;
}

/** What an agent says and does while it works. */
export interface AgentEvent {
  /** `agent.message` with `{text}`, `agent.tool` with `{command, exitCode, output}`. */
  readonly type: 'agent.message' | 'agent.tool';
  readonly data: Readonly<Record<string, unknown>>;
}

interface AgentRun {
  /** What a run of the same prompt had emitted that ended with the service; empty for a first run. */
  readonly earlier: readonly AgentEvent[];
  readonly emit: (type: AgentEvent['type'], data: AgentEvent['data']) => void;
  /** Aborted by an interrupt, a stop or the end of the service. */
  readonly signal: AbortSignal;
}

export type AgentOutcome =
  | { readonly status: 'completed'; readonly result: string }
  | { readonly status: 'failed'; readonly error: string; readonly result: string | null }
  | { readonly status: 'interrupted'; readonly result: string | null };

export interface Agent {
  /** True if it can continue a prompt that the end of the service interrupted; otherwise the prompt has failed. */
  readonly canGoOn: boolean;
  run(host: MachineHost, prompt: AgentPrompt, run: AgentRun): Promise<AgentOutcome>;
}
