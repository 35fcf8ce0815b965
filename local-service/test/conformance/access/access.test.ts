import { expect } from 'vitest';
import { rule } from '../rule.js';
import { type Person, startLocalTarget, startPeople } from '../target/index.js';

const local = { needs: ['local'] } as const;

/** A sandbox in the viewer's own list. */
async function listed(viewer: Person, id: string) {
  const { body } = await viewer.call('GET', '/sandboxes');
  return body.sandboxes.find((sandbox) => sandbox.id === id);
}

/** Calls that need `use`, with the status of their success. */
const uses = (id: string) =>
  [
    ['POST', `/sandboxes/${id}/commands`, { command: 'echo used' }, 200],
    ['PUT', `/sandboxes/${id}/files`, { path: 'from-a-teammate', content: 'x' }, 200],
    ['GET', `/sandboxes/${id}/files?path=from-a-teammate`, undefined, 200],
    ['POST', `/sandboxes/${id}/prompt`, { prompt: 'Say hello.' }, 202],
    ['GET', `/sandboxes/${id}/events`, undefined, 200],
    ['GET', `/sandboxes/${id}/processes`, undefined, 200],
    ['GET', `/sandboxes/${id}/artifacts?path=from-a-teammate`, undefined, 200],
    ['POST', `/sandboxes/${id}/interrupt`, undefined, 200],
  ] as const;

/** Calls that only the creator may make. */
const owns = (id: string) =>
  [
    ['PATCH', `/sandboxes/${id}`, { name: 'taken-over' }],
    ['DELETE', `/sandboxes/${id}`, undefined],
    ['POST', `/sandboxes/${id}/fork`, {}],
    ['POST', `/sandboxes/${id}/share`, undefined],
    ['POST', `/sandboxes/${id}/unshare`, undefined],
  ] as const;

rule(
  ['access.owner', 'sandbox.access', 'sandbox.created-by', 'sandbox.team'],
  'the creator of a sandbox owns it, and its organization, or else its account, is billed',
  async () => {
    const { ann, eve, teamId } = await startPeople();
    const ofTeam = await ann.create({ noEnv: true });
    expect((await ann.call('GET', `/sandboxes/${ofTeam}`)).body.sandbox).toMatchObject({
      access: 'owner',
      createdBy: 'ann',
      createdById: ann.accountId,
      team: { id: teamId, name: 'Acme' },
      visibility: 'shared',
    });
    const personal = await eve.create();
    expect((await eve.call('GET', `/sandboxes/${personal}`)).body.sandbox).toMatchObject({
      access: 'owner',
      createdById: eve.accountId,
      team: null,
      visibility: null,
    });
  },
  local,
);

rule(
  ['access.use', 'access.shared-means', 'access.shared-no-env', 'sandbox.access', 'sandbox.visibility'],
  'a teammate can open, run commands in, prompt, stop and resume a shared sandbox',
  async () => {
    const { ann, ben } = await startPeople();
    const id = await ann.ready({ noEnv: true });
    const shared = { access: 'use', visibility: 'shared', holdsCreatorLogins: false, createdBy: 'ann' };
    expect(await listed(ben, id)).toMatchObject(shared);
    expect((await ben.call('GET', `/sandboxes/${id}`)).body.sandbox).toMatchObject(shared);
    for (const [method, path, body, status] of uses(id)) {
      expect((await ben.call(method, path, { body })).status, `${method} ${path}`).toBe(status);
    }
    expect((await ben.archive(id)).access).toBe('use');
    expect((await ben.call('POST', `/sandboxes/${id}/resume`)).status).toBe(202);
    await ben.reach(id, 'ready');
    expect((await ann.call('GET', `/sandboxes/${id}/files?path=from-a-teammate`)).body.content).toBe('x');
  },
  local,
);

rule(
  ['access.use-limits', 'unshare.creator-only', 'errors.forbidden', 'auth.forbidden'],
  'a teammate cannot change, delete, fork, share or unshare a shared sandbox, or read its snapshots',
  async () => {
    const { ann, ben } = await startPeople();
    const id = await ann.ready({ noEnv: true, name: 'of-ann' });
    for (const [method, path, body] of owns(id)) {
      const refused = await ben.call(method, path, { body, headers: { 'x-svc-confirm-delete': id } });
      expect(refused, `${method} ${path}`).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    }
    await ann.archive(id);
    const { body } = await ben.call('GET', `/sandboxes/${id}/snapshots/latest`);
    const download = await ben.call('GET', `/snapshots/${body.snapshot.id}/download`);
    expect(download).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect((await ann.call('GET', `/sandboxes/${id}`)).body.sandbox).toMatchObject({
      name: 'of-ann',
      visibility: 'shared',
    });
  },
  local,
);

rule(
  [
    'access.view',
    'access.view-limits',
    'access.private-means',
    'access.private-logins',
    'sandbox.holds-creator-logins',
    'sandbox.holds-creator-logins-view',
  ],
  'a teammate can see and stop a sandbox with its creator’s logins, and do nothing else with it',
  async () => {
    const { ann, ben } = await startPeople();
    const id = await ann.ready();
    await ann.call('PUT', `/sandboxes/${id}/files`, { body: { path: 'from-a-teammate', content: 'of ann' } });
    expect(await listed(ben, id)).toMatchObject({ access: 'view', visibility: 'private', holdsCreatorLogins: true });
    expect(await listed(ann, id)).toMatchObject({ access: 'owner', visibility: 'private', holdsCreatorLogins: true });
    for (const [method, path, body] of [...uses(id), ...owns(id)]) {
      const refused = await ben.call(method, path, { body, headers: { 'x-svc-confirm-delete': id } });
      expect(refused, `${method} ${path}`).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    }
    const stopping = await ben.call('POST', `/sandboxes/${id}/stop`);
    expect(stopping.status).toBe(202);
    expect((await ben.call('GET', `/sandboxes/${id}/stops/${stopping.body.id}`)).status).toBe(200);
    await ann.reach(id, 'archived');
    expect((await ben.call('POST', `/sandboxes/${id}/resume`)).status).toBe(403);
  },
  local,
);

rule(
  'access.shared-passes-nothing',
  'a sandbox on an environment that passes nothing is shared, and one on an environment that passes something is private',
  async () => {
    const { ann, ben, local: target } = await startPeople();
    target.service.setup.createEnvironment({ name: 'bare', envContents: 'A=1' }, ann.accountId);
    target.service.setup.createEnvironment({ name: 'secrets', passSecrets: true }, ann.accountId);
    const bare = await ann.create({ environment: 'bare' });
    const holding = await ann.create({ environment: 'secrets' });
    expect(await listed(ben, bare)).toMatchObject({ access: 'use', visibility: 'shared', holdsCreatorLogins: false });
    expect(await listed(ben, holding)).toMatchObject({
      access: 'view',
      visibility: 'private',
      holdsCreatorLogins: true,
    });
  },
  local,
);

rule(
  'access.private-default',
  'the organization’s default makes only new sandboxes private, with and without logins',
  async () => {
    const { ann, ben, local: target, teamId } = await startPeople();
    const before = await ann.create({ noEnv: true });
    target.service.accounts.updateTeam(teamId, { newSandboxesPrivate: true });
    const after = await ann.create({ noEnv: true });
    expect(await listed(ben, before)).toMatchObject({ access: 'use', visibility: 'shared' });
    expect(await listed(ben, after)).toMatchObject({
      access: 'view',
      visibility: 'private',
      holdsCreatorLogins: false,
    });
  },
  local,
);

rule(
  ['access.stranger', 'errors.sandbox-not-found'],
  'a stranger finds no foreign sandbox in any list, and cannot tell whether one exists',
  async () => {
    const { ann, eve } = await startPeople();
    const id = await ann.ready({ noEnv: true });
    const unknown = 'bx_22222222';
    for (const [method, path, body] of [...uses(id), ...owns(id), ['GET', `/sandboxes/${id}`, undefined] as const]) {
      const headers = { 'x-svc-confirm-delete': id };
      const refused = await eve.call(method, path, { body, headers });
      const absent = await eve.call(method, path.replace(id, unknown), {
        body,
        headers: { 'x-svc-confirm-delete': unknown },
      });
      expect(refused, `${method} ${path}`).toMatchObject({ status: 404, body: { code: 'sandbox_not_found' } });
      expect(refused.body.message.replace(id, unknown)).toBe(absent.body.message);
    }
    expect((await eve.call('GET', '/sandboxes')).body.sandboxes).toEqual([]);
    const headers = { 'x-svc-confirm-delete': id };
    const { body } = await ann.call('DELETE', `/sandboxes/${id}`, { headers });
    for (const path of [`/sandboxes/${id}`, `/deletion-operations/${body.operationId}`]) {
      expect((await eve.call('GET', path)).status, path).toBe(404);
    }
    expect((await eve.call('DELETE', `/sandboxes/${id}`, { headers })).status).toBe(404);
  },
  local,
);

rule(
  'sandboxes.list',
  'a list contains the caller’s sandboxes and those of the organization, also page by page',
  async () => {
    const { ann, ben, eve } = await startPeople();
    const made = [await ann.create(), await eve.create(), await ben.create(), await ann.create({ noEnv: true })];
    const [first, , second, third] = made;
    for (const viewer of [ann, ben]) {
      const { body } = await viewer.call('GET', '/sandboxes');
      expect(body.sandboxes.map(({ id }) => id)).toEqual([first, second, third]);
      const page = await viewer.call('GET', '/sandboxes?limit=2');
      expect(page.body.sandboxes.map(({ id }) => id)).toEqual([first, second]);
      const rest = await viewer.call('GET', `/sandboxes?limit=2&cursor=${page.body.nextCursor}`);
      expect(rest.body.sandboxes.map(({ id }) => id)).toEqual([third]);
    }
    expect((await ben.call('GET', '/sandboxes')).body.sandboxes.map(({ access }) => access)).toEqual([
      'view',
      'owner',
      'use',
    ]);
  },
  local,
);

rule(
  'access.private-default',
  'accounts, organizations and their resources survive a restart of the service, and a reset removes them',
  async () => {
    const seeded = {
      accounts: [{ login: 'zoe', apiKey: 'key-of-zoe-that-is-long' }],
      teams: [{ name: 'Seeds', members: ['zoe'], newSandboxesPrivate: true }],
    };
    const target = await startLocalTarget(seeded);
    const { id: sessionOwner } = target.service.accounts.list().at(-1) ?? { id: '' };
    const session = target.service.accounts.createSession(sessionOwner);
    const created = await target.call('POST', '/sandboxes', { key: 'key-of-zoe-that-is-long', body: { noEnv: true } });
    expect(created.body.sandbox).toMatchObject({ team: { name: 'Seeds' }, visibility: 'private' });
    const { directory } = target;
    await target.service.close();
    const again = await startLocalTarget({ ...seeded, directory });
    expect((await again.call('GET', '/me', { key: session })).body.user.login).toBe('zoe');
    expect((await again.call('GET', '/sandboxes', { key: session })).body.sandboxes).toHaveLength(1);
    expect(again.service.accounts.list()).toHaveLength(2);
    await again.service.reset();
    expect((await again.call('GET', '/me', { key: session })).status).toBe(401);
    expect((await again.call('GET', '/me', { key: 'key-of-zoe-that-is-long' })).body.user.login).toBe('zoe');
    expect((await again.call('GET', '/me')).body.user.login).toBe('local');
  },
  local,
);
