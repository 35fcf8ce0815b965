import { expect } from 'vitest';
import { endpoints } from '../../../../src/contract/endpoints/endpoints.js';
import { rule } from '../rule.js';
import {
  callSample,
  endpointNames,
  onesOfEverything,
  scopedKey,
  startLocalTarget,
  startPeople,
} from '../target/index.js';

const local = { needs: ['local'] } as const;
const outside = { status: 403, body: { code: 'api_key_sandbox_forbidden' } };

rule(
  ['scope.both-hold', 'scope.sandbox-forbidden', 'auth.account-reads'],
  'a key for one sandbox with every action reaches no endpoint of another sandbox or of the whole account',
  async () => {
    const { ann } = await startPeople();
    const ids = await onesOfEverything(ann, ann.session);
    const own = await ann.ready();
    const { secret: key } = await scopedKey(ann, { preset: 'admin', sandboxes: [own] });
    const before = await ann.call('GET', `/sandboxes/${ids.sandboxId}`);
    for (const name of endpointNames) {
      const answer = await callSample(ann, name, ids, { key });
      if ('sessionOnly' in endpoints[name]) expect(answer.status, name).toBe(403);
      else if (name === 'listSandboxes') expect(answer.body.sandboxes.map(({ id }) => id)).toEqual([own]);
      else if (name === 'listSnapshots') expect(answer.body.snapshots).toEqual([]);
      else if (name === 'listEnvironments') expect(answer.body.environments).toEqual([]);
      else if (name === 'listApiKeys') expect(answer.body.apiKeys).toEqual([]);
      else expect(answer, name).toMatchObject(outside);
    }
    expect((await ann.call('GET', `/sandboxes/${ids.sandboxId}`)).body).toEqual(before.body);
    const command = { key, body: { command: 'echo in' } };
    expect((await ann.call('POST', `/sandboxes/${own}/commands`, command)).body.stdout).toBe('in\n');
  },
  local,
);

rule(
  ['scope.both-hold', 'scope.action-forbidden', 'api-keys.sandbox-and-env-sets'],
  'the right sandbox without the action is refused, and so is the action on the wrong sandbox',
  async () => {
    const { ann } = await startPeople();
    const [one, other] = [await ann.ready(), await ann.ready()];
    const { secret: key } = await scopedKey(ann, { actions: ['file.read', 'sandbox.read'], sandboxes: [one] });
    const run = (id: string) => ann.call('POST', `/sandboxes/${id}/commands`, { key, body: { command: 'true' } });
    expect((await ann.call('GET', `/sandboxes/${one}`, { key })).status).toBe(200);
    expect(await ann.call('GET', `/sandboxes/${other}`, { key })).toMatchObject(outside);
    for (const id of [one, other]) {
      expect(await run(id)).toMatchObject({ status: 403, body: { code: 'api_key_action_forbidden' } });
    }
    for (const body of [{ sandboxes: ['bx_22222222'] }, { environments: ['no-such-environment'] }]) {
      expect((await ann.call('POST', '/api-keys/scoped', { body: { name: 'x', ...body } })).status).toBe(404);
    }
  },
  local,
);

rule(
  ['scope.environment-set', 'api-keys.sandbox-and-env-sets', 'scope.sandbox-forbidden'],
  'a key for an environment reaches the sandboxes in it and those of its sandbox set, and creates only in it',
  async () => {
    const { ann, local: target } = await startPeople();
    for (const name of ['inside', 'elsewhere']) target.service.setup.createEnvironment({ name }, ann.accountId);
    const [within, without, named] = [
      await ann.ready({ environment: 'inside' }),
      await ann.ready({ environment: 'elsewhere' }),
      await ann.ready({ noEnv: true }),
    ];
    const { secret: key } = await scopedKey(ann, { preset: 'admin', environments: ['inside'], sandboxes: [named] });
    const list = await ann.call('GET', '/sandboxes', { key });
    expect(list.body.sandboxes.map(({ id }) => id)).toEqual([within, named]);
    expect(await ann.call('GET', `/sandboxes/${without}`, { key })).toMatchObject(outside);
    const environments = (await ann.call('GET', '/environments', { key })).body.environments;
    expect(environments.map(({ name }) => name)).toEqual(['inside']);
    const create = (body: object) => ann.call('POST', '/sandboxes', { key, body });
    expect((await create({ environment: 'inside' })).status).toBe(202);
    for (const body of [{ environment: 'elsewhere' }, { noEnv: true }, {}]) {
      expect(await create(body), JSON.stringify(body)).toMatchObject(outside);
    }
    const all = (await ann.call('GET', '/environments')).body.environments;
    const elsewhere = all.find(({ name }) => name === 'elsewhere');
    const put = await ann.call('PUT', `/environments/${elsewhere?.id}`, { key, body: { name: 'mine' } });
    expect(put).toMatchObject(outside);
  },
  local,
);

rule(
  ['scope.unknown-routes', 'scope.default-deny'],
  'scoped keys are refused on unknown routes, and other keys get a 404',
  async () => {
    const target = await startLocalTarget();
    const { secret: key } = await scopedKey(target);
    for (const [method, path] of [
      ['GET', '/nothing'],
      ['POST', '/api-keys/claims/approve'],
      ['PUT', '/me'],
    ] as const) {
      const refused = await target.call(method, path, { key });
      expect(refused, path).toMatchObject({ status: 403, body: { code: 'api_key_action_forbidden' } });
    }
    expect((await target.call('GET', '/nothing')).status).toBe(404);
  },
  local,
);

rule(
  ['scope.from-snapshot', 'scope.destination-environment'],
  'create from a named snapshot needs both rights, and an environment of the key does not replace the second',
  async () => {
    const { ann, local: target } = await startPeople();
    for (const name of ['inside', 'elsewhere']) target.service.setup.createEnvironment({ name }, ann.accountId);
    const source = await ann.ready({ environment: 'elsewhere' });
    await ann.archive(source);
    await ann.call('PATCH', `/sandboxes/${source}`, { body: { snapshotName: 'gold' } });
    const create = async (scope: Record<string, unknown>) => {
      const { secret: key } = await scopedKey(ann, scope);
      return ann.call('POST', '/sandboxes', { key, body: { from: 'gold', environment: 'inside' } });
    };
    const lacking = { status: 403, body: { code: 'api_key_action_forbidden' } };
    expect(await create({ actions: ['sandbox.create'] })).toMatchObject(lacking);
    expect(await create({ actions: ['snapshot.read'] })).toMatchObject(lacking);
    const both = ['sandbox.create', 'snapshot.read'];
    expect(await create({ actions: both, environments: ['inside'] })).toMatchObject(outside);
    expect((await create({ actions: both, environments: ['inside', 'elsewhere'] })).status).toBe(202);
    expect((await create({ actions: both })).status).toBe(202);
    expect(target.service.books.sandboxes().length).toBe(3);
  },
  local,
);

rule(
  'scope.replace-snapshot',
  'a name moves to another snapshot only with a key that reaches both sandboxes and may write snapshots',
  async () => {
    const { ann } = await startPeople();
    const [source, saved] = [await ann.ready(), await ann.ready()];
    for (const id of [source, saved]) await ann.archive(id);
    await ann.call('PATCH', `/sandboxes/${source}`, { body: { snapshotName: 'gold' } });
    const rename = async (scope: Record<string, unknown>) => {
      const { secret: key } = await scopedKey(ann, scope);
      return ann.call('PATCH', `/sandboxes/${saved}`, { key, body: { snapshotName: 'gold' } });
    };
    const actions = ['sandbox.update', 'snapshot.write'];
    expect(await rename({ actions, sandboxes: [saved] })).toMatchObject(outside);
    expect(await rename({ actions, sandboxes: [source] })).toMatchObject(outside);
    const lacking = await rename({ actions: ['sandbox.update'], sandboxes: [source, saved] });
    expect(lacking).toMatchObject({ status: 403, body: { code: 'api_key_action_forbidden' } });
    const nameOf = async (id: string) =>
      (await ann.call('GET', `/sandboxes/${id}/snapshots/latest`)).body.snapshot.name;
    expect([await nameOf(source), await nameOf(saved)]).toEqual(['gold', null]);
    expect((await rename({ actions, sandboxes: [source, saved] })).status).toBe(200);
    expect([await nameOf(source), await nameOf(saved)]).toEqual([null, 'gold']);
  },
  local,
);

rule(
  ['scope.both-hold', 'scope.sandbox-forbidden', 'scope.default-deny', 'idempotency.same-sandbox'],
  'a key that does not reach the source gets no fork of another key by its idempotency key, gone or not',
  async () => {
    const { ann } = await startPeople();
    const [source, other] = [await ann.ready(), await ann.ready()];
    const fork = (key: string) =>
      ann.call('POST', `/sandboxes/${source}/fork`, { key, body: {}, headers: { 'idempotency-key': 'once' } });
    const owner = await scopedKey(ann, { actions: ['sandbox.fork'], sandboxes: [source] });
    const stranger = await scopedKey(ann, { actions: ['sandbox.fork'], sandboxes: [other] });
    const first = await fork(owner.secret);
    expect(first.status).toBe(202);
    expect(await fork(stranger.secret)).toMatchObject(outside);
    expect((await fork(owner.secret)).body.sandbox.id).toBe(first.body.sandbox.id);
    await ann.call('DELETE', `/sandboxes/${source}`, { headers: { 'x-svc-confirm-delete': source } });
    expect(await fork(stranger.secret)).toMatchObject(outside);
    expect((await fork(owner.secret)).body.sandbox.id).toBe(first.body.sandbox.id);
  },
  local,
);

rule(
  ['deletion.poll', 'scope.sandbox-delete', 'scope.snapshots'],
  'a key that may only delete follows its own deletions, and no others',
  async () => {
    const { ann } = await startPeople();
    const [one, other] = [await ann.ready(), await ann.create()];
    await ann.archive(one);
    const snapshotId = (await ann.call('GET', `/sandboxes/${one}/snapshots/latest`)).body.snapshot.id;
    const writer = await scopedKey(ann, { actions: ['snapshot.write'], sandboxes: [one] });
    const forker = await scopedKey(ann, { actions: ['sandbox.fork'], sandboxes: [one] });
    const remover = await scopedKey(ann, { actions: ['sandbox.delete'], sandboxes: [one] });
    const remove = async (path: string, confirm: string, key?: string) => {
      const answer = await ann.call('DELETE', path, { key, headers: { 'x-svc-confirm-delete': confirm } });
      return `/deletion-operations/${answer.body.operationId}`;
    };
    const read = (path: string, { secret }: { readonly secret: string }) => ann.call('GET', path, { key: secret });
    const ofSnapshot = await remove(`/snapshots/${snapshotId}`, snapshotId, writer.secret);
    await expect.poll(async () => (await read(ofSnapshot, writer)).body.status).toBe('completed');
    const ofSandbox = await remove(`/sandboxes/${one}`, one, remover.secret);
    await expect.poll(async () => (await read(ofSandbox, remover)).body.status).toBe('completed');
    expect(await read(await remove(`/sandboxes/${other}`, other), remover)).toMatchObject(outside);
    expect(await read(ofSandbox, forker)).toMatchObject({ status: 403, body: { code: 'api_key_action_forbidden' } });
  },
  local,
);
