/** The agents of the local service. */
import type { Agent } from './agent.js';
import { type CommandAgentOptions, createCommandAgent } from './command-agent.js';
import { createScriptedAgent } from './scripted-agent.js';

export type { Agent, AgentEvent, AgentOutcome } from './agent.js';
export { type AgentOutput, agentOutputs } from './output/formats.js';

interface AgentsOptions {
  /** Programs by provider. For its provider, a program is used instead of the scripted agent. None by default. */
  readonly commandAgents?: Readonly<Record<string, CommandAgentOptions>>;
  /** Providers whose prompts the scripted agent runs; all by default. */
  readonly scriptedProviders?: readonly string[] | undefined;
}

/** Gives the agent of a provider, or undefined if that provider is not configured. */
export function createAgents(options: AgentsOptions = {}): (provider: string) => Agent | undefined {
  const { commandAgents = {}, scriptedProviders } = options;
  const agents = new Map(Object.entries(commandAgents).map(([name, agent]) => [name, createCommandAgent(agent)]));
  const scripted = createScriptedAgent();
  return (provider) => agents.get(provider) ?? (scriptedProviders?.includes(provider) === false ? undefined : scripted);
}
