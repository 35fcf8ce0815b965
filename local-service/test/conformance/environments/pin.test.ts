import { expect } from 'vitest';
import { rule } from '../rule.js';
import { openEnvironmentDesk } from './environment-desk.js';

const local = { needs: ['local'] } as const;

rule(
  ['sandbox.environment', 'sandbox.environment-version'],
  'a sandbox is on the named environment, on the default, or with noEnv on none',
  async () => {
    const { target, make, put } = await openEnvironmentDesk();
    await put(make('named'), { envContents: 'A=1' });
    const shown = async (body: Readonly<Record<string, unknown>>) =>
      (await target.call('POST', '/sandboxes', { body })).body.sandbox;
    expect(await shown({ environment: 'named' })).toMatchObject({ environment: 'named', environmentVersion: 2 });
    expect(await shown({})).toMatchObject({ environment: 'Default', environmentVersion: 1 });
    expect(await shown({ noEnv: true })).toMatchObject({ environment: null, environmentVersion: null });
    expect(await shown({ noEnv: true, environment: 'named' })).toMatchObject({ environment: null });
  },
  local,
);

rule(
  'sandbox.environment',
  'an unknown environment name is refused, and its idempotency key is free again at once',
  async () => {
    const { target, make } = await openEnvironmentDesk();
    const headers = { 'idempotency-key': 'a-key' };
    const create = () => target.call('POST', '/sandboxes', { body: { environment: 'later' }, headers });
    expect(await create()).toMatchObject({ status: 404, body: { code: 'not_found' } });
    make('later');
    expect((await create()).body.sandbox.environment).toBe('later');
  },
  local,
);

rule(
  ['sandbox.environment-frozen', 'environments.put-pinned', 'sandbox.environment-behind'],
  'a sandbox keeps its version through a change, a stop, a resume and a fork until it is upgraded',
  async () => {
    const { target, make, put, run, upgrade } = await openEnvironmentDesk();
    const id = make('frozen', { envContents: 'LEVEL=one', secretFiles: [{ path: 'level', contents: 'one' }] });
    const sandbox = await target.ready({ environment: 'frozen' });
    await put(id, { envContents: 'LEVEL=two', secretFiles: [{ path: 'level', contents: 'two' }] });
    const seen = async (sandboxId: string) => [
      (await target.call('GET', `/sandboxes/${sandboxId}`)).body.sandbox.environmentVersion,
      await run(sandboxId, 'echo $LEVEL; cat level'),
    ];
    expect(await seen(sandbox)).toEqual([1, 'one\none']);
    await target.archive(sandbox);
    const forked = (await target.call('POST', `/sandboxes/${sandbox}/fork`, { body: {} })).body.sandbox.id;
    await target.call('POST', `/sandboxes/${sandbox}/resume`, { body: {} });
    await target.reach(sandbox, 'ready');
    await target.reach(forked, 'ready');
    expect(await seen(sandbox)).toEqual([1, 'one\none']);
    expect(await seen(forked)).toEqual([1, 'one\none']);
    const late = await target.ready({ environment: 'frozen' });
    expect(await seen(late)).toEqual([2, 'two\ntwo']);
    await upgrade(id);
    expect(await seen(sandbox)).toEqual([2, 'two\ntwo']);
  },
  local,
);

rule(
  'sandbox.environment-deleted',
  'a sandbox of a deleted environment shows none, and keeps its pinned version',
  async () => {
    const { target, make, run } = await openEnvironmentDesk();
    const id = make('doomed', { envContents: 'KEPT=yes' });
    const sandbox = await target.ready({ environment: 'doomed' });
    target.service.setup.removeEnvironment(id);
    const { body } = await target.call('GET', `/sandboxes/${sandbox}`);
    expect(body.sandbox).toMatchObject({ environment: null, environmentVersion: null });
    expect(await run(sandbox, 'echo $KEPT')).toBe('yes');
    expect((await target.call('PUT', `/environments/${id}`, { body: {} })).status).toBe(404);
  },
  local,
);

rule(
  [
    'sandbox.holds-creator-logins',
    'environments.pass-repo-host',
    'environments.pass-sandbox-credentials',
    'environments.pass-agents-credentials',
  ],
  'a sandbox holds logins if its environment passes some',
  async () => {
    const { target, make } = await openEnvironmentDesk();
    const holds = async (body: Readonly<Record<string, unknown>>) =>
      (await target.call('POST', '/sandboxes', { body })).body.sandbox.holdsCreatorLogins;
    make('nothing', { envContents: 'A=1' });
    expect(await holds({ noEnv: true })).toBe(false);
    expect(await holds({ environment: 'nothing' })).toBe(false);
    for (const flag of ['passRepoHost', 'passSecrets', 'passSandboxCredentials', 'passAgentsCredentials']) {
      make(flag, { [flag]: true });
      expect(await holds({ environment: flag }), flag).toBe(true);
    }
    make('files', { secretFiles: [{ path: 'token', contents: 't' }] });
    expect(await holds({ environment: 'files' })).toBe(true);
  },
  local,
);
