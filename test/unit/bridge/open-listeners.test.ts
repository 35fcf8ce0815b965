import type { Client } from '@temporalio/client';
import { expect, it } from 'vitest';
import { createOpenListeners } from '../../../src/bridge/open-listeners.js';

interface Listed {
  readonly executions: readonly { readonly execution: { readonly workflowId: string } }[];
  readonly nextPageToken?: Uint8Array;
}

const page = (...ids: readonly string[]): Listed => ({
  executions: ids.map((workflowId) => ({ execution: { workflowId } })),
  nextPageToken: new Uint8Array(),
});

/** Listeners at a Temporal server that gives these answers, and a clock that stands still. */
function setUp(...answers: readonly (Listed | Error)[]) {
  const clock = { atMs: 0 };
  const logged: string[] = [];
  const queries: string[] = [];
  const listWorkflowExecutions = async ({ query }: { readonly query: string }) => {
    const answer = answers[queries.push(query) - 1] ?? page();
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const client = {
    options: { namespace: 'default' },
    workflowService: { listWorkflowExecutions },
    withDeadline: (_: number, run: () => unknown) => run(),
  };
  const listeners = createOpenListeners(client as unknown as Client, {
    log: (message) => logged.push(message),
    now: () => clock.atMs,
  });
  const deliver = async (count: number) => {
    for (let index = 0; index < count; index += 1) listeners.noteDelivery();
    await listeners.settled();
  };
  return { listeners, clock, logged, queries, deliver };
}

it('asks nothing while deliveries are rare, and takes every workflow for open', async () => {
  const { listeners, clock, queries, deliver } = setUp();
  for (let second = 0; second < 60; second += 1) {
    clock.atMs = second * 1_000;
    await deliver(4);
  }
  expect(queries).toEqual([]);
  expect(listeners.mayBeOpen('sandbox-watch/a')).toBe(true);
});

it('asks once in two seconds while deliveries are frequent, and believes an answer for five', async () => {
  const { listeners, clock, queries, deliver } = setUp(page('sandbox-watch/a'), page('sandbox-stop/b'));
  const open = () => [listeners.mayBeOpen('sandbox-watch/a'), listeners.mayBeOpen('sandbox-stop/b')];
  await deliver(9);
  expect(open()).toEqual([true, true]);
  await deliver(500);
  expect(queries).toHaveLength(1);
  expect(queries[0]).toMatch(/Running.*stopAndAwaitArchive.*sandboxWatch/);
  expect(open()).toEqual([true, false]);
  clock.atMs = 1_999;
  await deliver(500);
  expect(queries).toHaveLength(1);
  clock.atMs = 2_000;
  await deliver(500);
  expect(queries).toHaveLength(2);
  expect(open()).toEqual([false, true]);
  clock.atMs = 6_999;
  expect(open()).toEqual([false, true]);
  clock.atMs = 7_000;
  expect(open()).toEqual([true, true]);
});

it('asks one question at a time', async () => {
  const { listeners, clock, queries } = setUp();
  for (let index = 0; index < 10; index += 1) listeners.noteDelivery();
  clock.atMs = 3_000;
  for (let index = 0; index < 10; index += 1) listeners.noteDelivery();
  expect(queries).toHaveLength(1);
  await listeners.settled();
});

it('takes every workflow for open if there are more than fit in an answer', async () => {
  const { listeners, queries, deliver } = setUp({ ...page('sandbox-watch/a'), nextPageToken: new Uint8Array([1]) });
  await deliver(20);
  expect(queries).toHaveLength(1);
  expect(listeners.mayBeOpen('sandbox-watch/b')).toBe(true);
});

it('takes every workflow for open if the list fails, and says so once', async () => {
  const refused = new Error('no permission');
  const { listeners, clock, logged, deliver } = setUp(page(), refused, refused, page(), refused);
  for (const [atMs, isOpen, lines] of [
    [0, false, 0],
    [2_000, true, 1],
    [4_000, true, 1],
    [6_000, false, 1],
    [8_000, true, 2],
  ] as const) {
    clock.atMs = atMs;
    await deliver(10);
    expect(listeners.mayBeOpen('sandbox-watch/b')).toBe(isOpen);
    expect(logged).toHaveLength(lines);
  }
});
