/** An agent of the local service runs a prompt inside a sandbox. */
import type { MachineHost } from '../machine/machine-host.js';

interface AgentPrompt {
  readonly sandboxId: string;
  readonly prompt: string;
  readonly provider: string;
  readonly model: string | null;
  readonly reasoningEffort: string | null;
  readonly conversationId: string;
  /** Variables for everything that the agent starts in the sandbox. They may be secrets. Default: no variables. */
  readonly env?: Readonly<Record<string, string>>;
}

/** What an agent says and does while it works. */
export interface AgentEvent {
  /**
   * `agent.message` with `{text}`, and `part: true` if it is a part of an output; `agent.tool` with
   * `{command, exitCode, output}`, or with `{tool, detail, failed,
   * output}` for a tool that is no shell; `agent.usage` with the tokens that the agent says it used.
   */
  readonly type: 'agent.message' | 'agent.tool' | 'agent.usage';
  readonly data: Readonly<Record<string, unknown>>;
}

interface AgentRun {
  /** The events that an earlier run of the same prompt emitted before the service ended; empty for a first run. */
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
  /** True if the agent can continue a prompt that the end of the service interrupted. If not, the prompt has failed. */
  readonly canGoOn: boolean;
  /** True if the agent gets every model with every reasoning effort, also models that the catalog does not list. */
  readonly takesAnyModel: boolean;
  /**
   * Variables and paths of secret files, of which a sandbox must have at least one. Without, the provider is not
   * configured there. Default: the agent needs no login.
   */
  readonly login?: readonly string[] | undefined;
  run(host: MachineHost, prompt: AgentPrompt, run: AgentRun): Promise<AgentOutcome>;
}
