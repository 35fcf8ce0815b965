import { expect, it } from 'vitest';
import type { StopRequestView } from '../../../src/protocol/stop.js';
import { brokenCallers } from '../../world/oracle/callers.js';
import type { WorldRecord } from '../../world/oracle/record.js';

const at = (seconds: number) => new Date(seconds * 1_000).toISOString();
const view = (requestId: string, over: Partial<StopRequestView>) =>
  ({
    requestId,
    outcome: 'archived',
    stopId: 'stop_1',
    arrivedAt: at(10),
    endedAt: at(20),
    ...over,
  }) as StopRequestView;

/** @param bindings when the requests were answered with their stops, in seconds */
function recordOf(views: readonly StopRequestView[], bindings: readonly (number | null)[]): WorldRecord {
  const plan = { jobs: [{ kind: 'stop', key: 'j1', callers: 2, fails: 0, escalation: null }], troubles: [] };
  const stops = { views, acceptedAtMs: null, bindings: bindings.map((one) => one && one * 1_000) };
  return { plan, told: [{ job: 'j1', stops }] } as unknown as WorldRecord;
}

const late = (over: Partial<StopRequestView>) => view('late', { outcome: 'already_archived', ...over });

it.each([
  ['came before the end of the stop that another had received', late({}), 15, 1],
  ['came after that end', late({ arrivedAt: at(21), endedAt: at(22) }), 15, 0],
  ['was told before the other had received it', late({ endedAt: at(14) }), 15, 0],
  ['found another stop', late({ stopId: 'stop_0' }), 15, 0],
  ['is told the same', late({ outcome: 'archived' }), 15, 0],
  ['is beside one that received no stop', late({}), null, 0],
])('a caller that %s', (_, second, boundAt, count) => {
  expect(brokenCallers(recordOf([view('first', {}), second], [boundAt, null]))).toHaveLength(count);
});
