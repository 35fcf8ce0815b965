/** A batch whose items name several sources is cancelled, or continues as new. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cancelFanout, fanoutProgress } from '../../../../src/workflow-client/fanouts/fanout-client.js';
import { batchOf, ended, forks, leftForks, promptedForks } from '../../../workflows/fanout/fanout-harness.js';
import {
  comingsAndGoings,
  mostPrepared,
  prepare,
  shown,
  submitted,
} from '../../../workflows/fanout/sources-harness.js';
import { createStand, letGo, type Stand, untilGo } from '../../../workflows/workflow-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand({ worker: { forksPerSecond: 1_000 } });
});
afterAll(() => stand.close());

it('leaves nothing of its sources when it is cancelled, also while they are prepared', async () => {
  const input = await submitted(
    stand,
    ['a', 'b', 'c'].map((name) => prepare(`${untilGo}; echo ${name} > seed`)),
    { policy: { sourcesAtOnce: 2 } },
  );
  const prepared = () => forks(stand, input).map(({ name, state }) => `${name.split('-').at(-2)} ${state}`);
  await expect.poll(() => prepared().sort()).toEqual(['p0 ready', 'p1 ready']);
  await letGo(stand, forks(stand, input).find(({ name }) => name.includes('-p0-'))?.id);
  await expect.poll(() => fanoutProgress(stand.client, input)).toMatchObject({ counts: { completed: 1 } });
  await cancelFanout(stand.client, input);
  const result = await ended(stand, input);
  expect(result).toMatchObject({ outcome: 'cancelled', left: [], counts: { completed: 1 } });
  expect(mostPrepared(stand, input)).toBe(2);
  expect(forks(stand, input).filter(({ gone }) => gone === null)).toEqual([]);
});

it('continues as new between them, and prepares each once', async () => {
  const sources = [0, 1, 2, 3, 4].map((name) => prepare(`echo number ${name} > seed`));
  const input = await submitted(stand, sources, { pace: { maxHistoryEvents: 30 }, policy: { sourcesAtOnce: 2 } });
  const { firstRunId } = (await batchOf(stand, input).describe()).raw.workflowExecutionInfo ?? {};
  const result = await ended(stand, input);
  expect(result).toMatchObject({ outcome: 'completed', counts: { completed: 5 }, sources: { ended: 5 } });
  expect((await batchOf(stand, input).describe()).runId).not.toBe(firstRunId);
  const names = (await shown(stand, result)).map((text) => /number \d/.exec(text)?.[0]);
  expect(names).toEqual([0, 1, 2, 3, 4].map((name) => `number ${name}`));
  expect(mostPrepared(stand, input)).toBeLessThanOrEqual(2);
  const made = comingsAndGoings(stand, input).filter((one) => /^p/.test(one));
  expect(made.sort()).toEqual(['p0-1', 'p1-1', 'p2-1', 'p3-1', 'p4-1']);
  expect(promptedForks(stand, input)).toHaveLength(5);
  expect(leftForks(stand, input)).toEqual([]);
});
