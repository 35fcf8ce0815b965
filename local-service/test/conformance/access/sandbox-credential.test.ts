import { expect } from 'vitest';
import { rule } from '../rule.js';
import { callSample, endpointNames, onesOfEverything, startPeople, type Target } from '../target/index.js';

const local = { needs: ['local'] } as const;

/** The credential of a process in the sandbox. */
async function credentialOf(target: Target, id: string) {
  const body = { command: 'echo "$SANDBOX_API_KEY $SANDBOX_API_URL"' };
  const answer = await target.call('POST', `/sandboxes/${id}/commands`, { body });
  const [key = '', url = ''] = answer.body.stdout.trim().split(' ');
  return { key, url };
}

/** What the credential may do to its own sandbox (specification, "Scope"). */
const can: readonly string[] = [
  ...['sendPrompt', 'interruptSandbox', 'runCommand', 'readFile', 'downloadArtifact', 'writeFile'],
  ...['setSshKey', 'openDesktop', 'listSnapshots', 'listSandboxSnapshots', 'getLatestSnapshot', 'getSnapshotTree'],
  ...['downloadSnapshotFile', 'downloadSnapshot', 'deleteSnapshot'],
];

rule(
  ['scope.sandbox-credential-can', 'scope.sandbox-credential-cannot', 'auth.per-sandbox-key', 'auth.account-reads'],
  'the credential in a sandbox is accepted by the endpoints that may work on that sandbox, and by no others',
  async () => {
    const { ann } = await startPeople();
    const ids = await onesOfEverything(ann, ann.session);
    const { key, url } = await credentialOf(ann, ids.sandboxId);
    expect(url).toBe(ann.url);
    for (const name of endpointNames) {
      const answer = await callSample(ann, name, ids, { key });
      if (name === 'listApiKeys') expect(answer.body.apiKeys).toEqual([]);
      else if (can.includes(name)) expect(answer.status, `${name}: ${answer.text}`).not.toBe(403);
      else expect(answer.status, name).toBe(403);
    }
  },
  local,
);

rule(
  ['auth.per-sandbox-key', 'scope.sandbox-credential-can'],
  'the credential reaches no other sandbox of its account, and works from within the sandbox',
  async () => {
    const { ann } = await startPeople();
    const [id, other] = [await ann.ready(), await ann.ready()];
    const { key } = await credentialOf(ann, id);
    const body = { path: 'note', content: 'x' };
    const refused = await ann.call('PUT', `/sandboxes/${other}/files`, { key, body });
    expect(refused).toMatchObject({ status: 403, body: { code: 'api_key_sandbox_forbidden' } });
    expect((await ann.call('PUT', `/sandboxes/${id}/files`, { key, body })).status).toBe(200);
    expect((await credentialOf(ann, id)).key).toBe(key);
    expect((await credentialOf(ann, other)).key).not.toBe(key);
    expect((await ann.call('GET', '/api-keys')).body.apiKeys.map(({ name }) => name)).toEqual(['Account key']);
  },
  local,
);

rule(
  ['scope.sandbox-credential-cannot', 'scope.both-hold', 'environments.pass-sandbox-credentials'],
  'the credential ends with its sandbox, and does not exist without an environment that passes it',
  async () => {
    const { ann, local: target } = await startPeople();
    target.service.setup.createEnvironment({ name: 'no-credential', passSecrets: true }, ann.accountId);
    const bare = await ann.ready({ noEnv: true });
    const without = await ann.ready({ environment: 'no-credential' });
    for (const id of [bare, without]) expect(await credentialOf(ann, id)).toEqual({ key: '', url: '' });
    const id = await ann.ready();
    const { key } = await credentialOf(ann, id);
    await ann.call('DELETE', `/sandboxes/${id}`, { headers: { 'x-svc-confirm-delete': id } });
    expect((await ann.call('GET', `/sandboxes/${id}/files?path=x`, { key })).status).toBe(401);
  },
  local,
);

rule(
  ['scope.sandbox-credential-can', 'scope.snapshots', 'scope.sandbox-update'],
  'the credential names the next snapshot of its own sandbox, and changes nothing else',
  async () => {
    const { ann } = await startPeople();
    const [id, other] = [await ann.ready(), await ann.ready()];
    const { key } = await credentialOf(ann, id);
    const patch = (sandboxId: string, body: object) => ann.call('PATCH', `/sandboxes/${sandboxId}`, { key, body });
    const lacking = { status: 403, body: { code: 'api_key_action_forbidden' } };
    for (const body of [{ name: 'x' }, { ttlSeconds: 60 }, { snapshotName: 'own', name: 'x' }]) {
      expect(await patch(id, body), JSON.stringify(body)).toMatchObject(lacking);
    }
    const outside = { status: 403, body: { code: 'api_key_sandbox_forbidden' } };
    expect(await patch(other, { snapshotName: 'own' })).toMatchObject(outside);
    expect((await patch(id, { snapshotName: 'own' })).status).toBe(200);
    await ann.archive(id);
    expect((await ann.call('GET', `/sandboxes/${id}/snapshots/latest`)).body.snapshot.name).toBe('own');
  },
  local,
);
