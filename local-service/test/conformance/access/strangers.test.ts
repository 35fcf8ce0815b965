import { expect } from 'vitest';
import { endpoints } from '../../../../src/contract/endpoints/endpoints.js';
import { register, startReceiver } from '../../service/webhooks/receiver.js';
import { rule } from '../rule.js';
import { callSample, endpointNames, onesOfEverything, scopedKey, startPeople } from '../target/index.js';

const local = { needs: ['local'] } as const;

rule(
  ['access.stranger', 'auth.forbidden'],
  'no endpoint with an id in its path accepts an id of another account or changes its resource',
  async () => {
    const { ann, eve } = await startPeople();
    const ids = await onesOfEverything(ann, ann.session);
    const everything = async () => {
      const paths = [
        `/sandboxes/${ids.sandboxId}`,
        `/sandboxes/${ids.sandboxId}/snapshots`,
        '/environments',
        '/webhooks',
      ];
      const answers = await Promise.all(paths.map((path) => ann.call('GET', path)));
      return answers.map(({ text }) => text);
    };
    const before = await everything();
    const names = endpointNames.filter((name) => endpoints[name].path.includes('{'));
    expect(names.length).toBeGreaterThan(30);
    for (const name of names) {
      const session = 'sessionOnly' in endpoints[name];
      const answer = await callSample(eve, name, ids, session ? { key: eve.session } : {});
      expect(answer.status, `${name}: ${answer.text}`).toBe(404);
    }
    expect(await everything()).toEqual(before);
    const run = { body: { command: 'ls' } };
    const { stdout } = (await ann.call('POST', `/sandboxes/${ids.sandboxId}/commands`, run)).body;
    expect(stdout).toContain('kept.txt');
    expect(stdout).not.toContain('by-sample');
  },
  local,
);

rule(
  ['access.stranger', 'errors.not-found'],
  'lists of one account contain nothing of another, and a named snapshot of another cannot be a source',
  async () => {
    const { ann, eve } = await startPeople();
    const ids = await onesOfEverything(ann, ann.session);
    await ann.call('PATCH', `/sandboxes/${ids.sandboxId}`, { body: { snapshotName: 'gold' } });
    await ann.call('POST', '/secrets', { body: { set: { OF_ANN: 'x' } } });
    for (const path of ['/sandboxes', '/snapshots', '/webhooks', '/environments', '/api-keys', '/secrets', '/limits']) {
      const { text } = await eve.call('GET', path);
      for (const id of [...Object.values(ids), 'OF_ANN']) expect(text, path).not.toContain(id);
    }
    expect((await eve.call('GET', '/limits')).body.limits.sandboxes?.used).toBe(0);
    const create = await eve.call('POST', '/sandboxes', { body: { from: 'gold' } });
    expect(create).toMatchObject({ status: 404, body: { code: 'not_found' } });
    const mine = await eve.ready();
    await eve.archive(mine);
    await eve.call('PATCH', `/sandboxes/${mine}`, { body: { snapshotName: 'gold' } });
    const { snapshot } = (await ann.call('GET', `/sandboxes/${ids.sandboxId}/snapshots/latest`)).body;
    expect(snapshot).toMatchObject({ name: 'gold' });
  },
  local,
);

rule(
  'idempotency.per-account',
  'two accounts can use the same idempotency key for two sandboxes',
  async () => {
    const { ann, eve } = await startPeople();
    const keyed = (body: object) => ({ body, headers: { 'idempotency-key': 'the-same' } });
    const first = (await ann.call('POST', '/sandboxes', keyed({ name: 'of-ann' }))).body.sandbox;
    const second = (await eve.call('POST', '/sandboxes', keyed({ name: 'of-eve' }))).body.sandbox;
    expect(second).toMatchObject({ name: 'of-eve', createdBy: 'eve' });
    expect((await ann.call('POST', '/sandboxes', keyed({ name: 'of-ann' }))).body.sandbox.id).toBe(first.id);
    const { secret: key } = await scopedKey(ann, { actions: ['sandbox.create'], sandboxes: [await ann.create()] });
    const repeated = await ann.call('POST', '/sandboxes', { key, ...keyed({ name: 'of-ann' }) });
    expect(repeated).toMatchObject({ status: 403, body: { code: 'api_key_sandbox_forbidden' } });
  },
  local,
);

rule(
  'webhooks.at-most-10',
  'each account has its own ten webhooks and receives events of its own sandboxes only',
  async () => {
    const { ann, eve } = await startPeople();
    const receivers = { ann: await startReceiver(), eve: await startReceiver() };
    await register(ann, receivers.ann.url);
    await register(eve, receivers.eve.url);
    const id = await ann.ready();
    const ofEve = await eve.ready();
    await receivers.ann.waitFor(1, { type: 'sandbox.ready' });
    await receivers.eve.waitFor(1, { type: 'sandbox.ready' });
    expect(receivers.ann.received.map(({ body }) => body.data.sandbox.id)).not.toContain(ofEve);
    expect(receivers.eve.received.map(({ body }) => body.data.sandbox.id)).not.toContain(id);
    const body = { name: 'more', url: 'https://hooks.example.com/more', events: ['sandbox.ready'] };
    for (let count = 2; count <= 10; count++) expect((await ann.call('POST', '/webhooks', { body })).status).toBe(201);
    const refused = await ann.call('POST', '/webhooks', { body });
    expect(refused).toMatchObject({ status: 429, body: { code: 'limit_reached' } });
    expect((await eve.call('POST', '/webhooks', { body })).status).toBe(201);
  },
  local,
);

rule(
  ['access.stranger', 'auth.forbidden'],
  'the administration of the local service accepts only the key of the service',
  async () => {
    const { ann, local: target } = await startPeople();
    const books = (key: string) =>
      fetch(`${target.service.adminUrl}/books`, { headers: { authorization: `Bearer ${key}` } });
    expect((await books(target.key)).status).toBe(200);
    for (const key of [ann.key, ann.session]) expect((await books(key)).status).toBe(403);
    expect((await books('nobody')).status).toBe(401);
  },
  local,
);
