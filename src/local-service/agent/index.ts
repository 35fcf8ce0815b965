/** The agents of the local service. */
import type { Agent } from './agent.js';
import { createCommandAgent } from './command-agent.js';
import { createScriptedAgent } from './scripted-agent.js';

export type { Agent, AgentEvent, AgentOutcome } from './agent.js';

export interface AgentsOptions {
  /** Programs by provider. They come before scripted agents. None by default. */
  readonly commandAgents?: Readonly<Record<string, { readonly command: string }>>;
  /** Providers that the scripted agent stands in for; `all` by default. */
  readonly scriptedProviders?: readonly string[] | 'all';
}

/** Gives the agent of a provider, or undefined if that provider is not configured. */
export function createAgents(options: AgentsOptions = {}): (provider: string) => Agent | undefined {
  const { commandAgents = {}, scriptedProviders = 'all' } = options;
  const agents = new Map(Object.entries(commandAgents).map(([name, agent]) => [name, createCommandAgent(agent)]));
  const scripted = createScriptedAgent();
  const isScripted = (provider: string): boolean => scriptedProviders === 'all' || scriptedProviders.includes(provider);
  return (provider) => agents.get(provider) ?? (isScripted(provider) ? scripted : undefined);
}
