import { expect } from 'vitest';
import { rule } from './rule.js';
import { useTarget } from './target/index.js';

const target = useTarget();

rule(['envelope.ok-true', 'envelope.type'], 'an answer says ok and its type', async () => {
  const { body } = await target.call('GET', '/me');
  expect(body).toMatchObject({ ok: true, type: 'user.info' });
});

rule('envelope.single-sandbox', 'one sandbox comes under sandbox', async () => {
  const id = await target.create();
  const { body } = await target.call('GET', `/sandboxes/${id}`);
  expect(body.sandbox.id).toBe(id);
});

rule('envelope.list-plural', 'a list comes under its plural', async () => {
  const id = await target.create();
  const { body } = await target.call('GET', '/sandboxes');
  expect(body.sandboxes.map((sandbox) => sandbox.id)).toContain(id);
});
