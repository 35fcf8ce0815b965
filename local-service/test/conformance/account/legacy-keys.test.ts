import { expect } from 'vitest';
import { rule } from '../rule.js';
import type { AnswerBody } from '../target/answer.js';
import { startLocalTarget } from '../target/index.js';

/** The fields of keys that tests read, in the legacy vocabulary. */
interface LegacyKey {
  readonly apiKey: {
    readonly id: string;
    readonly sandboxId: string | null;
    readonly scope: { readonly preset: string; readonly actions: readonly string[]; readonly boxes: readonly string[] };
  };
  readonly catalog: {
    readonly actions: readonly string[];
    readonly presets: Readonly<Record<string, readonly string[]>>;
  };
}
const legacyOf = (body: AnswerBody): AnswerBody & LegacyKey => body as unknown as AnswerBody & LegacyKey;

rule(
  ['legacy.scope-actions', 'legacy.unchanged-key-field', 'legacy.error-codes'],
  'a key with a legacy scope keeps its field sandboxId, and is valid on both surfaces',
  async () => {
    const target = await startLocalTarget();
    const base = target.service.legacyUrl;
    const [mine, other] = [await target.ready(), await target.ready()];
    const wanted = { name: 'legacy', preset: 'full-box', boxes: [mine] };
    const created = await target.call('POST', '/api-keys/scoped', { base, body: wanted });
    expect(created.status).toBe(201);
    const { apiKey } = legacyOf(created.body);
    expect(apiKey).toMatchObject({ sandboxId: mine, scope: { preset: 'full-box', boxes: [mine] } });
    expect(apiKey.scope.actions).toEqual(expect.arrayContaining(['box.read', 'box.stop', 'exec']));
    expect(apiKey.scope.actions.join()).not.toContain('sandbox.');
    const { secret: key } = created.body;
    expect((await target.call('GET', `/boxes/${mine}`, { base, key })).status).toBe(200);
    expect(await target.call('GET', `/boxes/${other}`, { base, key })).toMatchObject({
      status: 403,
      body: { type: 'box.error', code: 'api_key_box_forbidden', error: { code: 'api_key_box_forbidden' } },
    });
    expect((await target.call('GET', `/sandboxes/${other}`, { key })).body.code).toBe('api_key_sandbox_forbidden');
    const { body } = await target.call('GET', '/api-keys');
    expect(body.apiKeys.find(({ id }) => id === apiKey.id)).toMatchObject({
      sandboxId: mine,
      scope: { preset: 'full-sandbox', sandboxes: [mine], actions: expect.arrayContaining(['sandbox.read']) },
    });
  },
  { needs: ['local'] },
);

rule(
  ['legacy.scope-actions'],
  'the legacy catalog has legacy names of actions and presets, and rejects current ones',
  async () => {
    const target = await startLocalTarget();
    const base = target.service.legacyUrl;
    const { catalog } = legacyOf((await target.call('GET', '/api-keys', { base })).body);
    expect(catalog.actions).toEqual(expect.arrayContaining(['box.create', 'box.delete', 'agent.prompt', '*']));
    expect(catalog.actions.filter((action) => action.startsWith('sandbox'))).toEqual([]);
    expect(Object.keys(catalog.presets).sort()).toEqual(['admin', 'ci', 'full-box', 'read-only']);
    expect(catalog.presets['full-box']).toContain('box.stop');
    for (const wrong of [{ preset: 'full-sandbox' }, { actions: ['sandbox.read'] }]) {
      const refused = await target.call('POST', '/api-keys/scoped', { base, body: { name: 'x', ...wrong } });
      expect(refused).toMatchObject({ status: 400, body: { type: 'box.error' } });
    }
  },
  { needs: ['local'] },
);
