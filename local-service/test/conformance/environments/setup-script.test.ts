import { expect } from 'vitest';
import { rule } from '../rule.js';
import { startLocalTarget, useTarget } from '../target/index.js';

const target = useTarget();
const waitsForGo = 'until test -e go; do sleep 0.02; done';

rule(
  ['sandbox.setup-status', 'sandbox.setup-running', 'sandbox.setup-done', 'states.setup-moves', 'create.setup-script'],
  'the script runs in the background of a usable sandbox, and is done when it ends',
  async () => {
    const id = await target.ready({ setupScript: waitsForGo });
    const status = async () => (await target.call('GET', `/sandboxes/${id}`)).body.sandbox.setupStatus;
    await expect.poll(status).toBe('running');
    await target.call('PUT', `/sandboxes/${id}/files`, { body: { path: 'go', content: '' } });
    await expect.poll(status).toBe('done');
    const without = await target.create();
    expect((await target.call('GET', `/sandboxes/${without}`)).body.sandbox).toMatchObject({
      setupStatus: null,
      setupError: null,
    });
  },
);

rule(
  ['sandbox.setup-pending', 'sandbox.setup-status', 'sandbox.setup-error'],
  'the script is pending while its sandbox is being created, and has no error until a start has failed',
  async () => {
    const local = await startLocalTarget({ timings: { bootMs: 60_000 } });
    const id = await local.create({ setupScript: 'true' });
    const { body } = await local.call('GET', `/sandboxes/${id}`);
    expect(body.sandbox).toMatchObject({ setupStatus: 'pending', setupError: null });
    await local.service.clock.advance(60_000);
    const status = async () => (await local.call('GET', `/sandboxes/${id}`)).body.sandbox.setupStatus;
    await expect.poll(status).toBe('done');
  },
  { needs: ['clock'] },
);

rule(
  ['sandbox.setup-error-pending', 'sandbox.setup-pending', 'sandbox.setup-error', 'states.setup-moves'],
  'a script that cannot be started says so while it is pending, and is started again',
  async () => {
    const local = await startLocalTarget();
    local.service.clock.hold();
    await local.arm({ kind: 'setup_start_fails', times: 2 });
    const id = await local.create({ setupScript: 'true', ttlSeconds: null });
    const read = async () => (await local.call('GET', `/sandboxes/${id}`)).body.sandbox;
    await local.service.clock.advance(500);
    const pending = {
      state: 'ready',
      setupStatus: 'pending',
      setupError: expect.stringMatching(/could not be started/),
    };
    expect(await read()).toMatchObject(pending);
    await local.service.clock.advance(1_000);
    expect(await read()).toMatchObject(pending);
    await local.service.clock.advance(1_000);
    await expect.poll(async () => (await read()).setupStatus).toBe('done');
    expect((await read()).setupError).toBeNull();
  },
  { needs: ['clock', 'faults'] },
);

rule(
  'sandbox.setup-failed',
  'a script with a lost process has failed',
  async () => {
    const local = await startLocalTarget();
    const id = await local.ready({ setupScript: 'sleep 60' });
    const read = async () => (await local.call('GET', `/sandboxes/${id}`)).body.sandbox;
    await expect.poll(async () => (await read()).setupStatus).toBe('running');
    await local.service.close();
    const again = await startLocalTarget({ directory: local.directory });
    const { body } = await again.call('GET', `/sandboxes/${id}`);
    expect(body.sandbox.setupStatus).not.toBe('done');
    const after = async () => (await again.call('GET', `/sandboxes/${id}`)).body.sandbox;
    await expect.poll(async () => (await after()).setupStatus).toBe('failed');
    expect((await after()).setupError).toEqual(expect.any(String));
  },
  { needs: ['local'] },
);

rule(
  'create.setup-script',
  'the script is in no argument and in no variable of the programs that it runs',
  async () => {
    const look = 'cat /proc/$$/cmdline > seen; env >> seen; test -s seen && touch looked';
    const id = await target.ready({ setupScript: `: kept-out-of-sight; ${look}` });
    const status = async () => (await target.call('GET', `/sandboxes/${id}`)).body.sandbox.setupStatus;
    await expect.poll(status).toBe('done');
    const seen = await target.call('GET', `/sandboxes/${id}/files?path=seen`);
    expect(seen).toMatchObject({ status: 200, body: { content: expect.stringContaining('PATH=') } });
    expect(seen.body.content).not.toContain('kept-out-of-sight');
  },
  { needs: ['local'] },
);
