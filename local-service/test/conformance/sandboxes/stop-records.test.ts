import { expect } from 'vitest';
import { rule } from '../rule.js';
import { startLocalTarget, useTarget } from '../target/index.js';

const target = useTarget();

rule(
  ['stops.required', 'stops.id-form', 'stops.get', 'stops.completed', 'stops.ended-at', 'stops.last-attempt-at'],
  'a completed stop can be read by its id, with every field',
  async () => {
    const id = await target.ready();
    const stopping = await target.call('POST', `/sandboxes/${id}/stop`);
    expect(stopping.body.type).toBe('sandbox.stopping');
    await target.reach(id, 'archived');
    const { body } = await target.call('GET', `/sandboxes/${id}/stops/${stopping.body.id}`);
    expect(body).toEqual({
      ok: true,
      type: 'stop.status',
      id: stopping.body.id,
      stop: {
        id: stopping.body.id,
        status: 'completed',
        requestedAt: expect.any(String),
        lastAttemptAt: expect.any(String),
        error: null,
        endedAt: expect.any(String),
      },
    });
    expect(body.id).toMatch(/^stop_[0-9a-f]+$/);
    expect(Date.parse(body.stop.endedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(body.stop.requestedAt ?? ''));
  },
);

rule(
  ['stops.pending', 'states.stop-accepted', 'states.archiving', 'stops.requested-at'],
  'an accepted stop is pending while its sandbox is archiving, and the sandbox shows it with its time',
  async () => {
    const local = await startLocalTarget({ timings: { archiveMs: 60_000 } });
    const id = await local.ready();
    const { body } = await local.call('POST', `/sandboxes/${id}/stop`);
    expect(body.stop).toMatchObject({
      id: body.id,
      status: 'pending',
      lastAttemptAt: null,
      error: null,
      endedAt: null,
    });
    const sandbox = (await local.call('GET', `/sandboxes/${id}`)).body.sandbox;
    expect(sandbox).toMatchObject({ state: 'archiving', stop: body.stop });
    expect(sandbox.stop?.requestedAt).toEqual(expect.any(String));
    expect((await local.prompt(id, 'hello')).body.code).toBe('sandbox_not_promptable');
  },
  { needs: ['clock'] },
);

rule(
  ['stops.superseded', 'states.resume-supersedes', 'stops.status-moves', 'trap.S7'],
  'a resume supersedes a pending stop, which then never completes',
  async () => {
    const local = await startLocalTarget({ timings: { archiveMs: 60_000 } });
    const id = await local.ready({ ttlSeconds: null });
    const { body } = await local.call('POST', `/sandboxes/${id}/stop`);
    await local.call('POST', `/sandboxes/${id}/resume`);
    await local.reach(id, 'ready');
    await local.service.clock.advance(120_000);
    const { stop } = (await local.call('GET', `/sandboxes/${id}/stops/${body.id}`)).body;
    expect(stop).toMatchObject({ status: 'superseded', error: null, endedAt: expect.any(String) });
    expect((await local.call('GET', `/sandboxes/${id}`)).body.sandbox.state).toBe('ready');
  },
  { needs: ['clock'] },
);

rule(
  ['stops.work-does-not-cancel', 'stops.failing-retried', 'stops.status-moves'],
  'commands, files and prompts work during a failing stop and do not cancel it: it is retried and completes',
  async () => {
    const local = await startLocalTarget({ timings: { stopRetryMs: 60_000 } });
    const id = await local.ready({ ttlSeconds: null });
    await local.arm({ kind: 'stop_fails', times: 2 });
    const { body } = await local.call('POST', `/sandboxes/${id}/stop`);
    const stop = async () => (await local.call('GET', `/sandboxes/${id}/stops/${body.id}`)).body.stop;
    await expect.poll(async () => (await stop()).status).toBe('failing');
    const command = await local.call('POST', `/sandboxes/${id}/commands`, { body: { command: 'echo late > late' } });
    expect(command.body).toMatchObject({ exitCode: 0 });
    expect((await local.call('GET', `/sandboxes/${id}/files?path=late`)).body.content).toBe('late\n');
    const { promptId } = (await local.prompt(id, '```sh\ncat late\n```')).body;
    expect(await local.promptEnd(id, promptId)).toMatchObject({ status: 'completed' });
    expect((await local.call('GET', `/sandboxes/${id}`)).body.sandbox.state).toBe('archiving');
    expect((await stop()).status).toBe('failing');
    await local.service.clock.advance(60_000);
    expect(await stop()).toMatchObject({ status: 'failing', error: expect.any(String) });
    await local.service.clock.advance(60_000);
    await local.reach(id, 'archived');
    expect(await stop()).toMatchObject({ status: 'completed', error: null });
    await local.call('POST', `/sandboxes/${id}/resume`);
    await local.reach(id, 'ready');
    expect((await local.call('GET', `/sandboxes/${id}/files?path=late`)).body.content).toBe('late\n');
  },
  { needs: ['clock', 'faults'] },
);

rule(
  ['stops.status-moves', 'stops.work-does-not-cancel', 'stops.error', 'stops.pending'],
  'a retry makes a failing stop pending again, ends the work that was begun meanwhile, and completes',
  async () => {
    const local = await startLocalTarget({ timings: { stopRetryMs: 60_000, snapshotMs: 60_000 } });
    const id = await local.ready({ ttlSeconds: null });
    await local.arm({ kind: 'stop_fails' });
    const { body } = await local.call('POST', `/sandboxes/${id}/stop`);
    const stop = async () => (await local.call('GET', `/sandboxes/${id}/stops/${body.id}`)).body.stop;
    await expect.poll(async () => (await stop()).status).toBe('failing');
    const { lastAttemptAt } = await stop();
    const { promptId } = (await local.prompt(id, '```sh\nsleep 600\n```')).body;
    await local.service.clock.advance(60_000);
    expect(await stop()).toMatchObject({ id: body.id, status: 'pending', error: null, endedAt: null, lastAttemptAt });
    expect((await local.promptEnd(id, promptId)).status).toBe('interrupted');
    const command = await local.call('POST', `/sandboxes/${id}/commands`, { body: { command: 'true' } });
    expect(command).toMatchObject({ status: 400, body: { code: 'machine_not_running' } });
    expect(await local.prompt(id, 'hello')).toMatchObject({ status: 409, body: { code: 'sandbox_not_promptable' } });
    await local.service.clock.advance(60_000);
    expect(await stop()).toMatchObject({ status: 'completed', error: null });
  },
  { needs: ['clock', 'faults'] },
);

rule(
  ['states.resume-supersedes', 'prompts.status'],
  'a resume ends the prompts that were begun while the stop was failing',
  async () => {
    const local = await startLocalTarget({ timings: { stopRetryMs: 60_000 } });
    const id = await local.ready({ ttlSeconds: null });
    await local.arm({ kind: 'stop_fails' });
    await local.call('POST', `/sandboxes/${id}/stop`);
    const read = async () => (await local.call('GET', `/sandboxes/${id}`)).body.sandbox;
    await expect.poll(async () => (await read()).stop?.status).toBe('failing');
    const { promptId } = (await local.prompt(id, '```sh\nsleep 600\n```')).body;
    await local.call('POST', `/sandboxes/${id}/resume`);
    expect((await local.promptEnd(id, promptId)).status).toBe('interrupted');
    expect((await local.reach(id, 'ready')).stop?.status).toBe('superseded');
  },
  { needs: ['clock', 'faults'] },
);
