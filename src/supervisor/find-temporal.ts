/** Finds the Temporal server that the commands of the same settings use. */
import type { Config } from '../config.js';
import { SandflowError } from '../errors/sandflow-error.js';
import type { TemporalTarget } from '../temporal/connect.js';
import { askSupervisor } from './control-client.js';
import { stackPaths } from './stack-paths.js';

/**
 * Returns the configured Temporal server or, without one, that of the running stack of `config.home`. Starts nothing.
 * @throws SandflowError `temporal_unreachable` if no server is configured and no stack runs
 * @example
 * const client = await connectTemporal(await findTemporal(readConfig()));
 */
export async function findTemporal(config: Pick<Config, 'home' | 'temporal'>): Promise<TemporalTarget> {
  if (config.temporal.configured) return config.temporal.connect;
  const stack = (await askSupervisor(stackPaths(config.home).stateFile, 'status'))?.stack;
  if (stack) return { address: stack.temporalAddress, namespace: stack.namespace };
  const message = `No Temporal server is configured, and no stack runs in ${config.home}. Start it with \`sandflow up\`, or set TEMPORAL_ADDRESS.`;
  throw new SandflowError('temporal_unreachable', message);
}
