/** Reports the isolation of sandboxes, and refuses command agents that would run without isolation. */
import { SandflowError } from '../../src/errors/sandflow-error.js';
import { isolationText, isolationWarnings, type MachineDescription } from './machine/index.js';
import type { LocalServiceOptions } from './options.js';

export interface IsolationReport extends MachineDescription {
  /** One line for people. */
  readonly text: string;
  /**
   * One warning for each lack of isolation or network that the options did not request; empty if nothing is missing.
   */
  readonly warnings: readonly string[];
}

type AgentOptions = Pick<LocalServiceOptions, 'commandAgents' | 'isolation'>;

export function isolationReport(description: MachineDescription, options: AgentOptions): IsolationReport {
  const agents = Object.keys(options.commandAgents ?? {});
  const cutOff =
    description.network.kind === 'none' && agents.length > 0
      ? [`The command agents ${agents.join(', ')} have no network. An agent that calls a remote model will fail.`]
      : [];
  const warnings = [...isolationWarnings(description), ...cutOff];
  return { ...description, text: isolationText(description), warnings };
}

/** Undefined if every command agent is isolated, or if the user allows it to run without isolation. */
export function requireIsolatedAgents(
  { isolation, reason }: MachineDescription,
  options: AgentOptions,
): SandflowError | undefined {
  if (isolation !== 'plain' || options.isolation === 'plain') return undefined;
  const agents = Object.entries(options.commandAgents ?? {}).filter(([, agent]) => agent.isolation !== 'plain');
  if (agents.length === 0) return undefined;
  const [name] = agents[0] ?? [];
  return new SandflowError(
    'agent_not_isolated',
    `The command agent ${name} would run as a plain process of this user: ${reason ?? 'nothing isolates it'}. ` +
      'Install bubblewrap, or set "isolation": "plain" next to its "command" to run it anyway.',
  );
}
