/** The price of machine time, from the service's own accounting. */
import type { SandboxClient } from '../../client/index.js';

const timeoutMs = 5_000;

/**
 * Dollars per machine-second at list price, computed from this month's cost so far. Null if there is no cost yet, or if
 * the key may not read it. Never throws: a missing price must not end the command.
 */
export async function findDollarsPerSecond(service: Pick<SandboxClient, 'listSandboxes'>): Promise<number | null> {
  try {
    const { sandboxes } = await service.listSandboxes({ include: 'cost' }, { signal: AbortSignal.timeout(timeoutMs) });
    const costs = sandboxes.flatMap(({ cost }) => (cost && cost.seconds > 0 && cost.dollars > 0 ? [cost] : []));
    const [first] = costs.sort((a, b) => b.seconds - a.seconds);
    return first ? first.dollars / first.seconds : null;
  } catch {
    return null;
  }
}
