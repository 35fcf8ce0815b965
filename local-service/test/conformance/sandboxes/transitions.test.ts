import { expect, onTestFinished } from 'vitest';
import { register, startReceiver } from '../../service/webhooks/receiver.js';
import { rule } from '../rule.js';
import { type LocalTarget, startLocalTarget, useTarget } from '../target/index.js';

const target = useTarget();

/** The changes of the specification: its table, and the order of the creating states. */
const moves: Readonly<Record<string, readonly string[]>> = {
  init: ['provisioning'],
  provisioning: ['provisioned', 'cloning'],
  provisioned: ['ready', 'error', 'cancelled'],
  cloning: ['ready', 'error', 'cancelled'],
  ready: ['running', 'archiving'],
  running: ['idle', 'archiving'],
  idle: ['running', 'archiving'],
  archiving: ['archived', 'provisioning', 'ready'],
  archived: ['provisioning'],
  error: ['ready', 'archiving', 'provisioning'],
};

/** Less than half of each timing, so that no two changes of one sandbox coincide. */
const stepMs = 20;

/** Follows one sandbox and records its states without repetition. */
function follow(local: LocalTarget, id: string) {
  const seen: string[] = [];
  let reads = 0;
  let ended = false;
  const reading = (async () => {
    while (!ended) {
      const { status, body } = await local.call('GET', `/sandboxes/${id}`);
      if (status === 200 && seen.at(-1) !== body.sandbox.state) seen.push(body.sandbox.state);
      reads += 1;
    }
  })();
  /** Waits for a read that has begun after this call, and returns the state that it found. */
  async function look(): Promise<string | undefined> {
    const before = reads;
    await expect.poll(() => reads, { interval: 1 }).toBeGreaterThan(before + 1);
    return seen.at(-1);
  }
  /** Moves the held clock until the state is this one, and looks after each step. */
  async function reach(state: string): Promise<void> {
    while ((await look()) !== state) await local.service.clock.advance(stepMs);
  }
  const end = async (): Promise<void> => {
    ended = true;
    await reading;
  };
  // Before the service closes, whatever the result of the test.
  onTestFinished(end);
  return { seen, look, reach, end };
}

rule(
  [
    'states.creating',
    'states.create-finishes',
    'states.archiving',
    'states.archived',
    'states.no-other-moves',
    'sandbox.state-enum',
    'prompts.status',
  ],
  'create, prompt, stop, resume and a superseded stop make no state change outside the table',
  async () => {
    const local = await startLocalTarget({
      timings: { initMs: 120, bootMs: 120, archiveMs: 120, stopRetryMs: 600_000 },
    });
    local.service.clock.hold();
    const id = await local.create();
    const following = follow(local, id);
    await following.reach('ready');
    const { body } = await local.prompt(id, '```sh\nuntil test -e go; do sleep 0.02; done\n```');
    await following.look();
    await local.call('PUT', `/sandboxes/${id}/files`, { body: { path: 'go', content: '' } });
    await local.promptEnd(id, body.promptId);
    await following.reach('idle');
    await local.call('POST', `/sandboxes/${id}/stop`);
    await following.reach('archived');
    await local.call('POST', `/sandboxes/${id}/resume`);
    await following.reach('ready');
    await local.arm({ kind: 'stop_fails' });
    await local.call('POST', `/sandboxes/${id}/stop`);
    await following.look();
    await local.service.clock.advance(120);
    const status = async () => (await local.call('GET', `/sandboxes/${id}`)).body.sandbox.stop?.status;
    await expect.poll(status).toBe('failing');
    await local.call('POST', `/sandboxes/${id}/resume`);
    await following.reach('ready');
    await following.end();
    const { seen } = following;
    for (const [index, state] of seen.slice(1).entries()) {
      expect(moves[seen[index] ?? ''], `${seen[index]} → ${state}`).toContain(state);
    }
    for (const state of ['init', 'provisioning', 'provisioned', 'ready', 'running', 'idle', 'archiving', 'archived']) {
      expect(seen).toContain(state);
    }
  },
  { needs: ['clock', 'faults'] },
);

rule(
  ['states.only-prompts-run', 'events.ready-not-usable-to-usable', 'events.ready', 'trap.S1'],
  'each event reports a change between usable and not usable, and none between usable states',
  async () => {
    const local = await startLocalTarget();
    const receiver = await startReceiver();
    await register(local, receiver.url);
    const id = await local.ready();
    await local.call('POST', `/sandboxes/${id}/commands`, { body: { command: 'true' } });
    for (let count = 0; count < 2; count++) {
      const { body } = await local.prompt(id, 'hello');
      await local.promptEnd(id, body.promptId);
      await local.reach(id, 'idle');
    }
    await local.archive(id);
    await receiver.waitFor(2);
    const usable = ['ready', 'idle', 'running'];
    for (const { body } of receiver.received) {
      const { previousState = '', state = '' } = body.data;
      expect(usable.includes(previousState) && usable.includes(state)).toBe(false);
    }
    expect(receiver.received.map(({ body }) => body.type)).toEqual(['sandbox.ready', 'sandbox.archived']);
  },
  { needs: ['local'] },
);

rule(
  ['states.usable', 'states.running', 'prompts.response', 'prompts.provider-optional', 'prompts.model-optional'],
  'a prompt without provider and model runs with the defaults, and its sandbox is running until it ends',
  async () => {
    const id = await target.ready();
    const queued = await target.prompt(id, '```sh\nuntil test -e go; do sleep 0.02; done\n```');
    expect(queued.status).toBe(202);
    expect(queued.body).toMatchObject({ type: 'prompt.queued', conversationId: expect.any(String) });
    expect((await target.call('GET', `/sandboxes/${id}`)).body.sandbox.state).toBe('running');
    await target.call('PUT', `/sandboxes/${id}/files`, { body: { path: 'go', content: '' } });
    const prompt = await target.promptEnd(id, queued.body.promptId);
    expect(prompt).toMatchObject({ status: 'completed', provider: expect.any(String) });
    await target.reach(id, 'idle');
  },
  { needs: ['local'] },
);

rule(
  ['states.auto-stop', 'sandbox.archive-after', 'sandbox.error'],
  'the stop begins within five seconds after archiveAfter, and not before',
  async () => {
    const local = await startLocalTarget({ timings: { archiveMs: 3_600_000 } });
    const id = await local.ready({ ttlSeconds: 600 });
    local.service.clock.hold();
    const { archiveAfter } = (await local.call('GET', `/sandboxes/${id}`)).body.sandbox;
    await local.service.clock.advance(Date.parse(archiveAfter ?? '') - local.service.clock.now() - 1_000);
    expect((await local.call('GET', `/sandboxes/${id}`)).body.sandbox).toMatchObject({ state: 'ready', stop: null });
    await local.service.clock.advance(6_000);
    const { state, stop } = (await local.call('GET', `/sandboxes/${id}`)).body.sandbox;
    expect([state, stop?.status]).toEqual(['archiving', 'pending']);
    const late = Date.parse(stop?.requestedAt ?? '') - Date.parse(archiveAfter ?? '');
    expect(late).toBeGreaterThanOrEqual(0);
    expect(late).toBeLessThanOrEqual(5_000);
  },
  { needs: ['clock'] },
);
