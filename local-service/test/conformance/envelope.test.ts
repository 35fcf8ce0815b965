import { expect } from 'vitest';
import { type Endpoint, endpoints } from '../../../src/contract/endpoints/endpoints.js';
import { inventory } from './coverage/inventory.js';
import { rule } from './rule.js';
import { useTarget } from './target/index.js';

const target = useTarget();

rule(
  ['envelope.ok-true', 'envelope.type', 'account.me'],
  'the user is returned with ok, a type and every field',
  async () => {
    const { body } = await target.call('GET', '/me');
    expect(body).toMatchObject({
      ok: true,
      type: 'user.info',
      user: { login: expect.any(String), email: expect.any(String), zeroDataRetention: expect.any(Boolean) },
    });
    expect(body.user).toHaveProperty('zeroDataRetentionEnabledAt');
  },
);

rule('envelope.single-sandbox', 'one sandbox is returned as sandbox', async () => {
  const id = await target.create();
  const { body } = await target.call('GET', `/sandboxes/${id}`);
  expect(body.sandbox.id).toBe(id);
});

rule(['envelope.list-plural', 'sandboxes.list'], 'lists are returned under their plurals', async () => {
  const id = await target.create();
  const { body } = await target.call('GET', '/sandboxes');
  expect(body.type).toBe('sandbox.list');
  expect(body.sandboxes.map((sandbox) => sandbox.id)).toContain(id);
  expect((await target.call('GET', '/webhooks')).body.webhooks).toEqual(expect.any(Array));
  expect((await target.call('GET', `/sandboxes/${id}/events`)).body.events).toEqual([]);
});

rule(
  'envelope.json-requests',
  'a JSON body is accepted with its content type, with and without a charset',
  async () => {
    for (const type of ['application/json', 'application/json; charset=utf-8']) {
      const { body } = await target.call('POST', '/sandboxes', {
        rawBody: '{"name":"Ünïcode"}',
        headers: { 'content-type': type },
      });
      expect(body.sandbox.name).toBe('Ünïcode');
    }
  },
);

/** Ids of the right form that belong to nothing. */
const nobody: Readonly<Record<string, string>> = {
  sandboxId: 'bx_22222222',
  stopId: 'stop_00',
  promptId: 'prm_000000000000000000000000',
  operationId: 'del_000000000000000000000000',
  snapshotId: 'snap_000000000000000000000000',
  environmentId: '00000000-0000-4000-8000-000000000000',
  webhookId: 'wh_000000000000000000000000',
  apiKeyId: 'sak_000000000000000000000000',
};

rule(['envelope.inventory', 'versioning.current-vocabulary'], 'every endpoint of the inventory exists', async () => {
  const unknown = (await target.call('GET', '/nothing-of-this-name')).body.message;
  for (const entry of inventory) {
    const [method = '', template = ''] = entry.split(' ');
    const path = template.replace(/\{(\w+)\}/g, (_, name: string) => nobody[name] ?? name);
    const { status, body } = await target.call(method, path, method === 'GET' ? {} : { rawBody: '{' });
    expect([405, 501], entry).not.toContain(status);
    if (status === 404) expect(body.message, entry).not.toBe(unknown.replace('/nothing-of-this-name', path));
    if (status === 404) expect(body.message, entry).not.toBe(unknown.replace('GET /nothing-of-this-name', entry));
  }
});

rule(
  ['errors.invalid-json', 'environments.put-invalid-json'],
  'every endpoint with a body refuses one that is not JSON',
  async () => {
    const withBody = Object.values<Endpoint>(endpoints).filter((row) => row.body && !row.sessionOnly);
    expect(withBody.length).toBeGreaterThan(10);
    for (const { method, path: template } of withBody) {
      const path = template.replace(/\{(\w+)\}/g, (_, name: string) => nobody[name] ?? name);
      const { status, body } = await target.call(method, path, { rawBody: '{"name":' });
      expect({ call: `${method} ${path}`, status, code: body.code }).toEqual({
        call: `${method} ${path}`,
        status: 400,
        code: 'invalid_json',
      });
    }
  },
);

rule(
  ['versioning.v1', 'versioning.current-vocabulary'],
  'the base URL ends in /v1 and answers about sandboxes',
  async () => {
    expect(new URL(target.url).pathname).toMatch(/\/v1$/);
    const { text } = await target.call('GET', `/sandboxes/${await target.create({ name: 'plain' })}`);
    expect(text).not.toMatch(/"box/i);
    const missing = await target.call('GET', '/sandboxes/bx_22222222');
    expect(missing.body.code).toBe('sandbox_not_found');
  },
);

rule('flow.commands-for-the-rest', 'a tool that a command installs is available to the next command', async () => {
  const id = await target.ready();
  const run = (command: string) => target.call('POST', `/sandboxes/${id}/commands`, { body: { command } });
  await run('mkdir -p bin && printf "#!/bin/sh\\necho tool ran\\n" > bin/tool && chmod +x bin/tool');
  expect((await run('./bin/tool')).body.stdout).toBe('tool ran\n');
});

rule(
  'flow.commands-for-the-rest',
  'the agent runs what a command has installed',
  async () => {
    const id = await target.ready();
    const command = 'mkdir -p bin && printf "#!/bin/sh\necho from the tool > made\n" > bin/tool && chmod +x bin/tool';
    await target.call('POST', `/sandboxes/${id}/commands`, { body: { command } });
    const { promptId } = (await target.prompt(id, '```sh\n./bin/tool\n```')).body;
    await target.promptEnd(id, promptId);
    const { body } = await target.call('GET', `/sandboxes/${id}/files?path=made`);
    expect(body.content).toBe('from the tool\n');
  },
  { needs: ['local'] },
);

rule(
  ['envelope.environments-success', 'environments.list', 'create.no-env'],
  'environments are returned with success instead of ok, and a sandbox without one has null',
  async () => {
    const { body } = await target.call('GET', '/environments');
    expect(body.success).toBe(true);
    expect(body).not.toHaveProperty('ok');
    const id = await target.create({ noEnv: true });
    const { sandbox } = (await target.call('GET', `/sandboxes/${id}`)).body;
    expect(sandbox).toMatchObject({ environment: null, environmentVersion: null });
  },
);
