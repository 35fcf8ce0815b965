import { expect } from 'vitest';
import { rule } from '../rule.js';
import { openEnvironmentDesk } from './environment-desk.js';

const local = { needs: ['local'] } as const;
const counts = (upgraded: number, failed: number) => ({ status: 200, body: { success: true, upgraded, failed } });

rule(
  ['environments.upgrade-response', 'environments.upgrade-all', 'environments.upgrade-repoints'],
  'all active sandboxes on an older version of this environment move to the latest, and are counted',
  async () => {
    const { target, make, put, upgrade, read } = await openEnvironmentDesk();
    const [id] = [make('here'), make('elsewhere')];
    const here = [await target.ready({ environment: 'here' }), await target.ready({ environment: 'here' })];
    const elsewhere = await target.ready({ environment: 'elsewhere' });
    const archived = await target.ready({ environment: 'here' });
    await target.archive(archived);
    await put(id, { envContents: 'A=1' });
    await target.ready({ environment: 'here' });
    const versionOf = async (sandbox: string) =>
      (await target.call('GET', `/sandboxes/${sandbox}`)).body.sandbox.environmentVersion;
    expect(await upgrade(id)).toMatchObject(counts(2, 0));
    expect(await Promise.all([...here, elsewhere, archived].map(versionOf))).toEqual([2, 2, 1, 1]);
    expect((await read(id)).versions?.map(({ sandboxCount }) => sandboxCount)).toEqual([1, 3]);
    expect(await upgrade(id)).toMatchObject(counts(0, 0));
    await target.call('POST', `/sandboxes/${archived}/resume`, { body: {} });
    await target.reach(archived, 'ready');
    expect(await versionOf(archived)).toBe(1);
    expect(await upgrade(id)).toMatchObject(counts(1, 0));
    expect(await versionOf(archived)).toBe(2);
  },
  local,
);

rule(
  'environments.upgrade-some',
  'agentIds limits an upgrade, and unknown, foreign or archived sandboxes count as failed',
  async () => {
    const { target, make, put, upgrade } = await openEnvironmentDesk();
    const id = make('some');
    const [chosen, left, archived] = [
      await target.ready({ environment: 'some' }),
      await target.ready({ environment: 'some' }),
      await target.ready({ environment: 'some' }),
    ];
    const bare = await target.ready({ noEnv: true });
    await target.archive(archived);
    await put(id, { envContents: 'A=1' });
    const agentIds = [chosen, chosen, archived, bare, 'bx_22222222'];
    expect(await upgrade(id, { agentIds })).toMatchObject(counts(1, 3));
    const { body } = await target.call('GET', `/sandboxes/${left}`);
    expect(body.sandbox.environmentVersion).toBe(1);
    expect(await upgrade(id, { agentIds: [chosen] })).toMatchObject(counts(0, 0));
    expect(await upgrade(id, { agentIds: [] })).toMatchObject(counts(0, 0));
    expect((await upgrade(id, { agentIds: ['no-id'] })).status).toBe(400);
  },
  local,
);

rule(
  ['environments.upgrade-scrubs', 'environments.upgrade-pushes', 'environments.pass-secrets'],
  'an upgrade removes dropped secret files and secrets and adds new ones while the sandbox runs',
  async () => {
    const { target, make, put, upgrade, run } = await openEnvironmentDesk();
    const secretFiles = [
      { path: 'dropped/token', contents: 'old' },
      { path: 'changed', contents: 'old' },
    ];
    const id = make('pushed', { passSecrets: true, envContents: 'LEVEL=1', secretFiles });
    await target.call('POST', '/secrets', { body: { set: { OWNER_TOKEN: 'mine' } } });
    const sandbox = await target.ready({ environment: 'pushed' });
    const look = 'echo "$LEVEL [$OWNER_TOKEN]"; find . -type f | sort | xargs grep -H .';
    await run(sandbox, 'echo user > own');
    expect(await run(sandbox, look)).toBe('1 [mine]\n./changed:old\n./dropped/token:old\n./own:user');
    await put(id, {
      passSecrets: false,
      envContents: 'LEVEL=2',
      secretFiles: [
        { path: 'changed', contents: 'new' },
        { path: 'added', contents: 'new' },
      ],
    });
    expect(await run(sandbox, look)).toBe('1 [mine]\n./changed:old\n./dropped/token:old\n./own:user');
    expect(await upgrade(id)).toMatchObject(counts(1, 0));
    expect(await run(sandbox, look)).toBe('2 []\n./added:new\n./changed:new\n./own:user');
    expect(await run(sandbox, 'stat -c %a added changed')).toBe('600\n600');
  },
  local,
);

rule(
  'environments.upgrade-response',
  'a sandbox that cannot store the new files counts as failed, and keeps its version and files',
  async () => {
    const { target, make, put, upgrade, run } = await openEnvironmentDesk();
    const id = make('blocked', { secretFiles: [{ path: 'kept', contents: 'old' }] });
    const sandbox = await target.ready({ environment: 'blocked' });
    await run(sandbox, 'mkdir taken');
    await put(id, { secretFiles: [{ path: 'taken', contents: 'new' }] });
    expect(await upgrade(id)).toMatchObject(counts(0, 1));
    const { body } = await target.call('GET', `/sandboxes/${sandbox}`);
    expect(body.sandbox.environmentVersion).toBe(1);
    expect(await run(sandbox, 'cat kept')).toBe('old');
    await run(sandbox, 'rmdir taken');
    expect(await upgrade(id)).toMatchObject(counts(1, 0));
    expect(await run(sandbox, 'cat taken; ls')).toBe('newtaken');
  },
  local,
);

rule(
  'environments.upgrade-all',
  'a starting sandbox starts with the latest version',
  async () => {
    const { target, make, put, upgrade, run } = await openEnvironmentDesk({ timings: { bootMs: 600_000 } });
    const id = make('early', { secretFiles: [{ path: 'level', contents: 'one' }] });
    const sandbox = await target.create({ environment: 'early' });
    await put(id, { secretFiles: [{ path: 'level', contents: 'two' }] });
    expect(await upgrade(id)).toMatchObject(counts(1, 0));
    await target.service.clock.advance(600_000);
    await target.reach(sandbox, 'ready');
    expect(await run(sandbox, 'cat level')).toBe('two');
  },
  local,
);
