/** A sandbox that is resumed or forked, while its disk is still copied. Each test holds the copy. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { usableIsolations } from '../machine/machine-fixture.js';
import { type ServiceUnderTest, startService } from '../service-under-test.js';
import { connect, ed25519Pair, exec } from '../ssh/ssh-fixture.js';
import { type HeldCopies, holdCopies } from './held-copies.js';

vi.mock(import('../../../src/machine/program.js'), { spy: true });

interface Restoring extends ServiceUnderTest {
  readonly id: string;
  readonly copies: HeldCopies;
}

const timings = { hydrationMs: 1 };

/** An archived sandbox that holds a file. */
async function archived(options: Parameters<typeof startService>[0] = {}) {
  const under = await startService({ timings, ...options });
  const id = await under.ready();
  await under.call('PUT', `/sandboxes/${id}/files`, { body: { path: 'kept.txt', content: 'kept' } });
  await under.archive(id);
  return { ...under, id, copies: await holdCopies() };
}

/** The same sandbox, resumed and ready. Its copy is held. */
async function resumed(options?: Parameters<typeof startService>[0]): Promise<Restoring> {
  const under = await archived(options);
  await under.call('POST', `/sandboxes/${under.id}/resume`);
  await under.reach(under.id, 'ready');
  return under;
}

/** A ready fork of that sandbox, whose copy is held. */
async function forked(
  options?: Parameters<typeof startService>[0],
): Promise<Restoring & { readonly sourceId: string }> {
  const under = await archived(options);
  const { id } = (await under.call('POST', `/sandboxes/${under.id}/fork`)).body.sandbox;
  await under.reach(id, 'ready');
  return { ...under, id, sourceId: under.id };
}

const fileOf = async ({ call }: ServiceUnderTest, id: string, path = 'kept.txt') =>
  (await call('GET', `/sandboxes/${id}/files?path=${path}`)).body.content;
const runIn = ({ call }: ServiceUnderTest, id: string, command: string) =>
  call('POST', `/sandboxes/${id}/commands`, { body: { command } });
const sandboxOf = async ({ call }: ServiceUnderTest, id: string) =>
  (await call('GET', `/sandboxes/${id}`)).body.sandbox;
const hydrates = (under: ServiceUnderTest, id: string) =>
  expect.poll(async () => (await sandboxOf(under, id)).hydrated).toBe(true);
/** Fails its copies until its stop fails. */
const failStop = (under: Restoring) =>
  expect
    .poll(async () => {
      under.copies.fail();
      return (await sandboxOf(under, under.id)).stop?.error ?? '';
    })
    .toContain('no space is left');

/** The state after a kill at this moment. */
function killedCopy(under: ServiceUnderTest): string {
  const directory = mkdtempSync(join(tmpdir(), 'sandflow-local-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  cpSync(under.directory, directory, { recursive: true });
  return directory;
}

const remove = ({ call }: ServiceUnderTest, path: string, id: string) =>
  call('DELETE', path, { headers: { 'x-svc-confirm-delete': id } });

describe.each(usableIsolations)('a resumed %s sandbox', (isolation) => {
  it('is ready and its files are read before they are copied; a command and a write wait', async () => {
    const under = await resumed({ isolation });
    const { id, call, copies } = under;
    const done: string[] = [];
    const command = runIn(under, id, 'cat kept.txt').finally(() => done.push('command'));
    const body = { path: 'later.txt', content: 'later' };
    const write = call('PUT', `/sandboxes/${id}/files`, { body }).finally(() => done.push('write'));
    expect(await fileOf(under, id)).toBe('kept');
    expect((await call('GET', `/sandboxes/${id}/artifacts?path=kept.txt`)).text).toBe('kept');
    expect((await call('GET', `/sandboxes/${id}/processes`)).status).toBe(200);
    const hydration = { entriesDone: 0, entriesTotal: null, percent: null };
    expect(await sandboxOf(under, id)).toMatchObject({ state: 'ready', hydrated: false, hydration });
    expect(done).toEqual([]);
    copies.release();
    expect((await command).body.stdout).toBe('kept');
    expect((await write).status).toBe(200);
    expect(await fileOf(under, id, 'later.txt')).toBe('later');
    await hydrates(under, id);
  });
});

describe('while the disk of a sandbox is copied', () => {
  it('a stop refuses what waits, and archives every file', async () => {
    const under = await forked();
    const { id, call, copies } = under;
    const write = call('PUT', `/sandboxes/${id}/files`, { body: { path: 'late.txt', content: 'late' } });
    await call('POST', `/sandboxes/${id}/stop`);
    expect(await write).toMatchObject({ status: 400, body: { code: 'machine_not_running' } });
    expect((await sandboxOf(under, id)).state).toBe('archiving');
    copies.release();
    expect(await under.reach(id, 'archived')).toMatchObject({ snapshotAvailable: true, stop: { status: 'completed' } });
    await call('POST', `/sandboxes/${id}/resume`);
    await under.reach(id, 'ready');
    expect((await runIn(under, id, 'cat *')).body.stdout).toBe('kept');
  });

  it('a stop whose copy fails is repeated until every file is archived', async () => {
    const under = await forked();
    const { id, call, copies } = under;
    await call('POST', `/sandboxes/${id}/stop`);
    await failStop(under);
    copies.release();
    await under.reach(id, 'archived');
    await call('POST', `/sandboxes/${id}/resume`);
    await under.reach(id, 'ready');
    expect(await fileOf(under, id)).toBe('kept');
  });

  it('a deletion ends it, even while a stop waits for it', async () => {
    const under = await forked();
    const { id, call, directory } = under;
    await call('POST', `/sandboxes/${id}/stop`);
    await expect.poll(async () => (await sandboxOf(under, id)).lastSnapshotStatus).toBe('in_progress');
    const { operationId } = (await remove(under, `/sandboxes/${id}`, id)).body;
    await expect
      .poll(async () => (await call('GET', `/deletion-operations/${operationId}`)).body.status)
      .toBe('completed');
    await expect.poll(() => readdir(join(directory, 'machines', 'unfinished'))).toEqual([]);
    expect(await readdir(join(directory, 'machines', 'disks'))).toEqual([]);
  });

  it('other sandboxes boot and are deleted, however many are copied', async () => {
    const under = await archived();
    const { id, call } = under;
    for (let i = 0; i < 64; i += 1) {
      const fork = (await call('POST', `/sandboxes/${id}/fork`)).body.sandbox;
      await under.reach(fork.id, 'ready');
    }
    const other = await under.ready();
    const { operationId } = (await remove(under, `/sandboxes/${other}`, other)).body;
    await expect
      .poll(async () => (await call('GET', `/deletion-operations/${operationId}`)).body.status)
      .toBe('completed');
  });

  it('a reset ends it', async () => {
    const { service, call, directory } = await resumed();
    await service.reset();
    expect((await call('GET', '/sandboxes')).body.sandboxes).toEqual([]);
    expect(await readdir(join(directory, 'machines', 'unfinished'))).toEqual([]);
  });

  it('the end of the service ends it, even while a session of SSH waits for it', async () => {
    const under = await resumed();
    const { id, call, service } = under;
    const keys = ed25519Pair();
    await call('POST', `/sandboxes/${id}/sshkey`, { body: { publicKey: keys.public } });
    const port = Number((await sandboxOf(under, id)).sshEndpoint?.split(':').at(-1));
    await exec(await connect(port, { privateKey: keys.private }), 'true');
    await service.close();
    expect(await readdir(join(under.directory, 'machines', 'unfinished'))).toEqual([]);
  });

  it('the deletion of its source keeps the snapshot until it is copied', async () => {
    const under = await forked();
    const { id, sourceId, call, copies, directory } = under;
    const snapshots = () => readdir(join(directory, 'machines', 'snapshots'));
    const { operationId } = (await remove(under, `/sandboxes/${sourceId}`, sourceId)).body;
    await expect
      .poll(async () => (await call('GET', `/deletion-operations/${operationId}`)).body.status)
      .toBe('completed');
    expect(await fileOf(under, id)).toBe('kept');
    expect(await snapshots()).toHaveLength(1);
    copies.release();
    expect((await runIn(under, id, 'cat kept.txt')).body.stdout).toBe('kept');
    await expect.poll(snapshots).toEqual([]);
  });

  it('an interrupted prompt ends', async () => {
    const under = await resumed();
    const sent = (await under.prompt(under.id, '```sh\ntouch begun\n```', { new: true })).body;
    await under.reach(under.id, 'running');
    await under.call('POST', `/sandboxes/${under.id}/interrupt?conversation=${sent.conversationId}`);
    expect(await under.promptEnd(under.id, sent.promptId)).toMatchObject({ status: 'interrupted' });
  });
});

describe('a copy that fails', () => {
  it('puts the ready sandbox into error, and a resume restores it', async () => {
    const under = await resumed();
    const { id, call, copies } = under;
    await copies.begun();
    copies.fail();
    const { error } = await under.reach(id, 'error');
    expect(error).toMatch(/^The disk could not be created: .*no space is left/);
    copies.release();
    await call('POST', `/sandboxes/${id}/resume`);
    await under.reach(id, 'ready');
    expect((await runIn(under, id, 'cat kept.txt')).body.stdout).toBe('kept');
  });
});

describe('a fork whose copy failed', () => {
  it('is archived with every file, even if its source was deleted', async () => {
    const under = await forked();
    const { id, sourceId, call, copies } = under;
    await copies.begun();
    copies.fail();
    await under.reach(id, 'error');
    await remove(under, `/sandboxes/${sourceId}`, sourceId);
    copies.release();
    expect(await under.archive(id)).toMatchObject({ snapshotAvailable: true });
    await call('POST', `/sandboxes/${id}/resume`);
    await under.reach(id, 'ready');
    expect((await runIn(under, id, 'cat kept.txt')).body.stdout).toBe('kept');
  });
});

describe('a sandbox that gets secret files', () => {
  it('is not ready without them, even if its copy fails', async () => {
    const under = await startService({ timings });
    const { call, reach } = under;
    under.service.setup.createEnvironment({ name: 'keys', secretFiles: [{ path: 'key.txt', contents: 'secret' }] });
    const id = await under.ready({ environment: 'keys' });
    await runIn(under, id, 'echo old > key.txt');
    await under.archive(id);
    const copies = await holdCopies();
    await call('POST', `/sandboxes/${id}/resume`);
    await copies.begun();
    expect((await sandboxOf(under, id)).state).toBe('cloning');
    copies.fail();
    expect((await reach(id, 'ready', 'error')).error).toMatch(/^The disk could not be created: .*no space is left/);
    await call('POST', `/sandboxes/${id}/resume`);
    await copies.begun(2);
    copies.release();
    await reach(id, 'ready');
    expect(await fileOf(under, id, 'key.txt')).toBe('secret');
  });
});

describe('a service that is killed during the copy', () => {
  it('copies again, and loses nothing', async () => {
    const before = await forked();
    await before.copies.begun();
    const directory = killedCopy(before);
    const { id, copies } = before;
    const late = runIn(before, id, 'true').catch(() => undefined);
    expect(await fileOf(before, id)).toBe('kept');
    await before.service.close();
    await late;
    const after = await startService({ directory, timings });
    await copies.begun(2);
    const command = runIn(after, id, 'cat kept.txt');
    expect(await fileOf(after, id)).toBe('kept');
    expect(await sandboxOf(after, id)).toMatchObject({ state: 'ready', hydrated: false });
    copies.release();
    expect((await command).body.stdout).toBe('kept');
    await hydrates(after, id);
  });

  it('copies again for a sandbox whose stop is failing, before its next attempt', async () => {
    const long = { timings: { ...timings, stopRetryMs: 3_600_000 } };
    const before = await forked(long);
    const { id, copies } = before;
    await before.call('POST', `/sandboxes/${id}/stop`);
    await failStop(before);
    const directory = killedCopy(before);
    await before.service.close();
    const after = await startService({ ...long, directory });
    expect(await fileOf(after, id)).toBe('kept');
    copies.release();
    expect((await runIn(after, id, 'cat kept.txt')).body.stdout).toBe('kept');
  });
});

describe('after the copy', () => {
  it.each(['a fault', 'a kill'])('what was changed before the end of the hydration survives %s', async (end) => {
    const long = { timings: { hydrationMs: 3_600_000 } };
    const before = await resumed(long);
    const { id, copies } = before;
    copies.release();
    await runIn(before, id, 'echo changed > kept.txt');
    let after: ServiceUnderTest = before;
    if (end === 'a kill') {
      const directory = killedCopy(before);
      await before.service.close();
      after = await startService({ ...long, directory });
    } else {
      await before.call('PATCH', `/sandboxes/${id}`, { body: { state: 'error', reason: 'broken' }, admin: true });
      await before.reach(id, 'error');
      await before.call('POST', `/sandboxes/${id}/resume`);
      await before.reach(id, 'ready');
    }
    expect((await runIn(after, id, 'cat kept.txt')).body.stdout).toBe('changed\n');
  });
});
