/** Prompts whose record or intent takes long to store, or cannot be stored. */
import { activityInfo } from '@temporalio/activity';
import { NativeConnection } from '@temporalio/worker';
import { afterAll, afterEach, beforeAll, expect, inject, it } from 'vitest';
import type { ResultStore, StoredObject } from '../../../../../src/result-store/index.js';
import { createStand, type Stand } from '../../../../workflows/workflow-harness.js';

type Act = () => Promise<unknown>;
/** What happens around each direct heartbeat and each write of a record. */
const around = { beat: (send: Act) => send(), put: (write: Act) => write() };
const untouched = { ...around };
/** The phases of all written records, in order. */
const phases: string[] = [];
const holding = (store: ResultStore): ResultStore => ({
  ...store,
  async put(key, content) {
    if (!key.endsWith('/record.json')) return store.put(key, content);
    return (await around.put(async () => {
      const stored = await store.put(key, content);
      phases.push(JSON.parse(Buffer.from(content).toString('utf8')).phase);
      return stored;
    })) as StoredObject;
  },
});

let stand: Stand;
let connection: NativeConnection;
beforeAll(async () => {
  connection = await NativeConnection.connect({ address: inject('temporalAddress') });
  const { workflowService } = connection;
  const { recordActivityTaskHeartbeat } = workflowService;
  workflowService.recordActivityTaskHeartbeat = ((...args: Parameters<typeof recordActivityTaskHeartbeat>) =>
    around.beat(async () => recordActivityTaskHeartbeat.apply(workflowService, args))) as never;
  stand = await createStand({ results: holding, worker: { connection } });
});
afterEach(() => {
  Object.assign(around, untouched);
  phases.length = 0;
});
afterAll(async () => {
  await stand.close();
  await connection.close();
});

/** A prompt with an unknown outcome ends the job. */
const input = { onUnknownOutcome: 'abandon', deadlineMs: 60_000 } as const;
const completed = { outcome: 'completed', prompts: [{ status: 'completed' }], left: [] };
const sentIn = (sandboxId: string | null) => stand.service.books.prompts({ sandboxId: sandboxId ?? '' });
const isFirstToSend = () => {
  const { activityType, attempt } = activityInfo();
  return activityType === 'sendAndFollowPrompt' && attempt === 1;
};
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

it('a prompt is sent although its record takes 7 s to store', async () => {
  around.put = async (write) => {
    await pause(7_000);
    return write();
  };
  expect(await (await stand.start(input)).result()).toMatchObject(completed);
  await expect.poll(() => phases).toEqual(['sending', 'accepted']);
});

it.each([
  ['was lost', true],
  ['did not arrive', false],
])('a prompt is sent by the next attempt if the heartbeat with its intent %s', async (_, arrives) => {
  let failed = 0;
  around.beat = async (send) => {
    if (!isFirstToSend()) return send();
    failed += 1;
    if (arrives && failed === 1) await send();
    throw new Error('14 UNAVAILABLE: the line was cut');
  };
  const result = await (await stand.start(input)).result();
  expect(result).toMatchObject(completed);
  expect(failed).toBeGreaterThan(0);
  expect(sentIn(result.sandboxId)).toHaveLength(1);
});

it('an attempt that has timed out does not replace the record of the next one', async () => {
  let wake: () => void = () => undefined;
  const woken = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const held: Promise<unknown>[] = [];
  // The first attempt stalls.
  const hold = (act: Act) => {
    if (!isFirstToSend()) return act();
    const acted = woken.then(act);
    held.push(acted.catch(() => undefined));
    return acted;
  };
  Object.assign(around, { beat: hold, put: hold });
  expect(await (await stand.start(input)).result()).toMatchObject(completed);
  expect(held).not.toHaveLength(0);
  wake();
  // What the attempt does next is added at the end.
  for (const acted of held) await acted;
  await expect.poll(() => phases).toEqual(['sending', 'accepted']);
});
