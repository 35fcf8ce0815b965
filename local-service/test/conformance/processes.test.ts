import { expect } from 'vitest';
import { rule } from './rule.js';
import { type LocalTarget, startLocalTarget, type Target, useTarget } from './target/index.js';

const target = useTarget();

/** Lasts until the sandbox stops. */
const longCommand = 'sleep 3600';
const busyCommand = 'while :; do :; done';
const processes = async (on: Target, id: string) => (await on.call('GET', `/sandboxes/${id}/processes`)).body;
/** Starts a command without waiting for it; it ends with its sandbox. */
function begin(on: Target, id: string, command: string): void {
  on.call('POST', `/sandboxes/${id}/commands`, { body: { command } }).catch(() => undefined);
}
const sleeping = async (on: Target, id: string) =>
  (await processes(on, id)).processes.filter(({ command }) => command === longCommand);
/** The clock of another machine may differ by a minute. */
function expectWithin(time: string | null | undefined, fromMs: number, toMs: number): void {
  expect(Date.parse(time ?? '')).toBeGreaterThan(fromMs - 60_000);
  expect(Date.parse(time ?? '')).toBeLessThan(toMs + 60_000);
}
const breakMachine = ({ service, key }: LocalTarget, id: string) =>
  fetch(`${service.adminUrl}/sandboxes/${id}`, {
    method: 'PATCH',
    body: JSON.stringify({ state: 'error' }),
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  });

rule(
  ['processes.response', 'processes.live', 'processes.entry', 'processes.command-id'],
  'the list of a usable sandbox is current, and names the command of each process',
  async () => {
    const id = await target.ready();
    const begunAt = Date.now();
    begin(target, id, longCommand);
    begin(target, id, `${longCommand} & wait`);
    await expect.poll(async () => (await sleeping(target, id)).length).toBe(2);
    const askedAt = Date.now();
    const list = await processes(target, id);
    const readAt = Date.now();
    expect(list).toMatchObject({ type: 'process.list', live: true });
    expect(list.total).toBe(list.processes.length);
    expectWithin(list.sampledAt, askedAt, readAt);
    for (const entry of list.processes) {
      expect(entry).toEqual({
        pid: expect.any(Number),
        command: expect.any(String),
        parentPid: expect.any(Number),
        user: expect.any(String),
        cpuPercent: expect.any(Number),
        memoryMB: expect.any(Number),
        startedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        commandId: expect.any(String),
      });
      expectWithin(entry.startedAt, begunAt, readAt);
    }
    expect(new Set(list.processes.map(({ commandId }) => commandId)).size).toBe(2);
    await target.archive(id);
  },
);

rule('processes.command-id', 'a background process has the id of the command that started it', async () => {
  const local = await startLocalTarget();
  const id = await local.ready();
  const started = await local.call('POST', `/sandboxes/${id}/commands`, {
    body: { command: `${longCommand} >/dev/null 2>&1 &` },
  });
  expect(await sleeping(local, id)).toMatchObject([{ commandId: (started.text.match(/cmd_\w+/) ?? [])[0] }]);
});

rule(
  ['processes.stopped-sample', 'processes.sample-top-12'],
  'a stopped sandbox shows the processes at its stop: their number, and the twelve busiest',
  async () => {
    const local = await startLocalTarget();
    const id = await local.ready();
    begin(local, id, `for i in $(seq 20); do ${longCommand} & done; wait`);
    begin(local, id, busyCommand);
    await expect.poll(async () => (await sleeping(local, id)).length).toBe(20);
    const busiest = async () => (await processes(local, id)).processes[0]?.command;
    await expect.poll(busiest).toContain(busyCommand);
    await local.archive(id);
    const list = await processes(local, id);
    expect(list).toMatchObject({ live: false, sampledAt: expect.any(String) });
    expect(list.total).toBeGreaterThanOrEqual(21);
    expect(list.processes).toHaveLength(12);
    expect(list.processes[0]?.command).toContain(busyCommand);
    const never = await local.create();
    await local.reach(never, 'ready');
    await local.archive(never);
    expect(await processes(local, never)).toMatchObject({ live: false, total: 0, processes: [] });
  },
);

rule(
  'processes.sample-every-30s',
  'the stored sample is at most thirty seconds old',
  async () => {
    const local = await startLocalTarget();
    local.service.clock.hold();
    const id = await local.create();
    await local.service.clock.advance(1_000);
    begin(local, id, longCommand);
    await expect.poll(async () => (await sleeping(local, id)).length).toBe(1);
    await local.service.clock.advance(30_000);
    const sampled = local.service.clock.iso();
    await local.service.clock.advance(20_000);
    await breakMachine(local, id);
    const list = await processes(local, id);
    expect(list).toMatchObject({ live: false, sampledAt: sampled });
    expect(list.processes.map(({ command }) => command)).toContain(longCommand);
  },
  { needs: ['clock', 'local'] },
);

rule(
  'processes.sample-kept-7-days',
  'a sample is deleted seven days after it was taken',
  async () => {
    const local = await startLocalTarget();
    const id = await local.ready();
    begin(local, id, longCommand);
    await expect.poll(async () => (await sleeping(local, id)).length).toBe(1);
    await local.archive(id);
    local.service.clock.hold();
    const day = 24 * 3_600_000;
    await local.service.clock.advance(6 * day);
    expect((await processes(local, id)).processes.length).toBeGreaterThan(0);
    await local.service.clock.advance(day);
    expect(await processes(local, id)).toMatchObject({ live: false, sampledAt: null, total: 0, processes: [] });
  },
  { needs: ['clock', 'local'] },
);

rule(
  ['processes.at-most-500', 'processes.live'],
  'of more than 500 processes the list contains 500, with the total',
  async () => {
    const id = await target.ready();
    begin(target, id, `for i in $(seq 520); do ${longCommand} & done; wait`);
    const list = () => processes(target, id);
    await expect.poll(async () => (await list()).total).toBeGreaterThanOrEqual(520);
    expect((await list()).processes).toHaveLength(500);
    await target.archive(id);
  },
);

rule('sandbox.monitoring-off', 'a sandbox without monitoring stores no sample', async () => {
  const local = await startLocalTarget();
  const id = await local.ready({ monitoring: false });
  begin(local, id, longCommand);
  await expect.poll(async () => (await sleeping(local, id)).length).toBe(1);
  await local.archive(id);
  expect(await processes(local, id)).toMatchObject({ live: false, total: 0 });
});
