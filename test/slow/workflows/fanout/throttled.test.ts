import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FanoutProgress } from '../../../../workflows/index.js';
import {
  archivedSandbox,
  ended,
  fanoutInput,
  items,
  lines,
  source,
  submitInChunks,
} from '../../../workflows/fanout/fanout-harness.js';
import { heal } from '../../../workflows/stop/stop-harness.js';
import { createStand, type Stand } from '../../../workflows/workflow-harness.js';

let stand: Stand;
let sandboxId: string;
beforeAll(async () => {
  stand = await createStand({ worker: { forksPerSecond: 1_000 } });
  sandboxId = await archivedSandbox(stand);
});
afterAll(() => stand.close());

describe('a service that throttles forks', () => {
  it('slows the whole batch down and fails no item', async () => {
    const refusal = { kind: 'error', endpoint: 'forkSandbox', status: 429, code: 'rate_limited' } as const;
    await stand.fault({ ...refusal, retryAfterSeconds: 2, times: 3 });
    const input = await submitInChunks(
      stand,
      fanoutInput(source(sandboxId), { policy: { concurrency: 4 } }),
      items(8),
      4,
    );
    const seen: FanoutProgress[] = [];
    const result = await ended(stand, input, (progress) => seen.push(progress));
    await heal(stand);
    expect(result).toMatchObject({
      outcome: 'completed',
      counts: { completed: 8, failed: 0, retried: 0 },
      throttledUntil: null,
    });
    expect(seen.some(({ throttledUntil }) => throttledUntil !== null)).toBe(true);
    const refused = stand.service.books
      .calls()
      .filter(({ endpoint, status }) => endpoint === 'forkSandbox' && status === 429);
    expect(refused).toHaveLength(3);
    // Items that had not started waited for the pause.
    const lastRefusedAtMs = Math.max(...refused.map(({ at }) => Date.parse(at)));
    const forkedAtMs = (await lines(stand, result)).map(({ times }) => Date.parse(times.forkedAt ?? ''));
    expect(forkedAtMs.filter((at) => at > lastRefusedAtMs + 1_500).length).toBeGreaterThanOrEqual(4);
  });
});
