import { expect } from 'vitest';
import { rule } from '../rule.js';
import { type People, startPeople } from '../target/index.js';

const local = { needs: ['local'] } as const;
const printCommand = { body: { command: 'cat secret.txt; echo "[$TOKEN][$SANDBOX_API_KEY]"' } };

/** A sandbox of Ann's that has secrets, a secret file and a file of its own. */
async function withLogins({ ann, local: target }: People): Promise<string> {
  await ann.call('POST', '/secrets', { body: { set: { TOKEN: 'token-of-ann' } } });
  const secretFiles = [{ path: 'secret.txt', contents: 'file-of-ann' }];
  const passing = { passSecrets: true, passSandboxCredentials: true, secretFiles };
  target.service.setup.createEnvironment({ name: 'logins', ...passing }, ann.accountId);
  const id = await ann.ready({ environment: 'logins' });
  await ann.call('PUT', `/sandboxes/${id}/files`, { body: { path: 'work.txt', content: 'work' } });
  const { body } = await ann.call('POST', `/sandboxes/${id}/commands`, printCommand);
  expect(body.stdout).toMatch(/^file-of-ann\[token-of-ann\]\[svc_sandbox_.+\]\n$/);
  return id;
}

rule(
  ['access.share-endpoint', 'access.share-wipe', 'sandbox.wipe-pending'],
  'a shared sandbox with logins waits for its restart, and nobody else can use it before',
  async () => {
    const people = await startPeople();
    const { ann, ben } = people;
    const id = await withLogins(people);
    const { status, body } = await ann.call('POST', `/sandboxes/${id}/share`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      type: 'sandbox.shared',
      message: expect.stringContaining('wiped'),
      sandbox: { id, wipePendingUntilRestart: true, holdsCreatorLogins: true, visibility: 'private' },
    });
    const refused = await ben.call('POST', `/sandboxes/${id}/commands`, printCommand);
    expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect((await ann.call('POST', `/sandboxes/${id}/commands`, printCommand)).body.stdout).toContain('token-of-ann');
  },
  local,
);

rule(
  ['access.share-wipe', 'access.share-after-restart', 'sandbox.wipe-at-start', 'access.shared-means'],
  'at the next start the logins are removed from disk, variables and service, and the organization can use the sandbox',
  async () => {
    const people = await startPeople();
    const { ann, ben, as } = people;
    const id = await withLogins(people);
    const before = await ann.call('POST', `/sandboxes/${id}/commands`, { body: { command: 'echo $SANDBOX_API_KEY' } });
    const credential = as(before.body.stdout.trim());
    const readWork = `/sandboxes/${id}/files?path=work.txt`;
    expect((await credential.call('GET', readWork)).status).toBe(200);
    await ann.call('POST', `/sandboxes/${id}/share`);
    await ann.archive(id);
    expect((await ben.call('POST', `/sandboxes/${id}/resume`)).status).toBe(403);
    for (const round of ['first', 'second']) {
      await ann.call('POST', `/sandboxes/${id}/resume`);
      const shown = { access: 'use', visibility: 'shared', holdsCreatorLogins: false, wipePendingUntilRestart: false };
      expect(await ben.reach(id, 'ready'), round).toMatchObject(shown);
      const { body } = await ben.call('POST', `/sandboxes/${id}/commands`, printCommand);
      expect(body, round).toMatchObject({ stdout: '[][]\n', exitCode: 0 });
      expect((await ben.call('GET', readWork)).body.content).toBe('work');
      await ben.archive(id);
    }
    expect((await credential.call('GET', readWork)).status).toBe(401);
  },
  local,
);

rule(
  [
    'unshare.response',
    'unshare.at-once',
    'unshare.teammates-see',
    'unshare.teammates-cannot-use',
    'access.private-unshare',
  ],
  'unshare makes a shared sandbox private at once, and teammates can still see and stop it',
  async () => {
    const { ann, ben } = await startPeople();
    const id = await ann.ready({ noEnv: true });
    const command = { body: { command: 'true' } };
    expect((await ben.call('POST', `/sandboxes/${id}/commands`, command)).status).toBe(200);
    const { status, body } = await ann.call('POST', `/sandboxes/${id}/unshare`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      type: 'sandbox.unshared',
      message: expect.any(String),
      sandbox: { id, access: 'owner', visibility: 'private', holdsCreatorLogins: false },
    });
    expect(await ben.call('POST', `/sandboxes/${id}/commands`, command)).toMatchObject({ status: 403 });
    expect((await ann.call('POST', `/sandboxes/${id}/commands`, command)).status).toBe(200);
    const list = await ben.call('GET', '/sandboxes');
    expect(list.body.sandboxes).toMatchObject([{ id, access: 'view', visibility: 'private' }]);
    expect((await ben.call('POST', `/sandboxes/${id}/stop`)).status).toBe(202);
    await ann.reach(id, 'archived');
  },
  local,
);

rule(
  ['unshare.no-op', 'unshare.undo', 'unshare.keeps-content', 'access.share-endpoint'],
  'unshare of a private sandbox changes nothing, share reverts it at once, and content and environment stay',
  async () => {
    const { ann, ben, local: target } = await startPeople();
    target.service.setup.createEnvironment({ name: 'bare' }, ann.accountId);
    const id = await ann.ready({ environment: 'bare' });
    await ann.call('PUT', `/sandboxes/${id}/files`, { body: { path: 'kept', content: 'kept' } });
    const first = await ann.call('POST', `/sandboxes/${id}/unshare`);
    const second = await ann.call('POST', `/sandboxes/${id}/unshare`);
    expect(second.status).toBe(200);
    expect(second.body.sandbox).toEqual(first.body.sandbox);
    expect(first.body.sandbox).toMatchObject({ environment: 'bare', environmentVersion: 1, state: 'ready' });
    const undone = await ann.call('POST', `/sandboxes/${id}/share`);
    expect(undone.body.sandbox).toMatchObject({ visibility: 'shared', wipePendingUntilRestart: false });
    expect((await ben.call('GET', `/sandboxes/${id}/files?path=kept`)).body.content).toBe('kept');
    const again = await ann.call('POST', `/sandboxes/${id}/share`);
    expect(again.body.sandbox).toEqual(undone.body.sandbox);
  },
  local,
);

rule(
  ['unshare.at-once', 'unshare.undo'],
  'unshare cancels a share that waits for its restart: the logins stay, and nobody else gets access',
  async () => {
    const people = await startPeople();
    const { ann, ben } = people;
    const id = await withLogins(people);
    await ann.call('POST', `/sandboxes/${id}/share`);
    const { body } = await ann.call('POST', `/sandboxes/${id}/unshare`);
    expect(body.sandbox).toMatchObject({ wipePendingUntilRestart: false, holdsCreatorLogins: true });
    await ann.archive(id);
    await ann.call('POST', `/sandboxes/${id}/resume`);
    expect(await ben.reach(id, 'ready')).toMatchObject({ access: 'view', holdsCreatorLogins: true });
    expect((await ann.call('POST', `/sandboxes/${id}/commands`, printCommand)).body.stdout).toContain('token-of-ann');
  },
  local,
);

rule(
  ['unshare.creator-only', 'unshare.organization-only', 'unshare.errors'],
  'share and unshare are refused to teammates, to strangers, without a key, and for a personal sandbox',
  async () => {
    const { ann, ben, eve } = await startPeople();
    const ofTeam = await ann.create({ noEnv: true });
    const personal = await eve.create({ noEnv: true });
    for (const verb of ['share', 'unshare']) {
      const path = `/sandboxes/${ofTeam}/${verb}`;
      expect(await ben.call('POST', path), verb).toMatchObject({ status: 403, body: { code: 'forbidden' } });
      expect(await eve.call('POST', path), verb).toMatchObject({ status: 404, body: { code: 'sandbox_not_found' } });
      expect(await ann.call('POST', path, { key: null }), verb).toMatchObject({ status: 401 });
      const ownButPersonal = await eve.call('POST', `/sandboxes/${personal}/${verb}`);
      expect(ownButPersonal, verb).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    }
    expect((await ann.call('GET', `/sandboxes/${ofTeam}`)).body.sandbox.visibility).toBe('shared');
  },
  local,
);

rule(
  'unshare.keeps-content',
  'a fork of a sandbox that its creator made private is private',
  async () => {
    const { ann, ben } = await startPeople();
    const id = await ann.ready({ noEnv: true });
    await ann.call('POST', `/sandboxes/${id}/unshare`);
    const { body } = await ann.call('POST', `/sandboxes/${id}/fork`);
    expect(body.sandbox).toMatchObject({ access: 'owner', visibility: 'private' });
    expect((await ben.call('GET', `/sandboxes/${body.sandbox.id}`)).body.sandbox.access).toBe('view');
  },
  local,
);

rule(
  ['access.view', 'sandbox.setup-error'],
  'the error of a setup script shows a teammate none of the values that it printed',
  async () => {
    const { ann, ben, local: target } = await startPeople();
    const secret = 'token-of-ann-0123456789';
    await ann.call('POST', '/secrets', { body: { set: { TOKEN: secret } } });
    target.service.setup.createEnvironment({ name: 'logins', passSecrets: true }, ann.accountId);
    // The text is cut within the first one.
    const script = `printf "$TOKEN %01920d" 7 >&2; echo "could not reach https://ann:$TOKEN@git.example.com" >&2; exit 3`;
    const { body } = await ann.call('POST', '/sandboxes', { body: { environment: 'logins', setupScript: script } });
    const seen = async () => (await ben.call('GET', `/sandboxes/${body.sandbox.id}`)).body.sandbox;
    await expect.poll(async () => (await seen()).setupStatus).toBe('failed');
    const { setupError } = await seen();
    expect(setupError).toMatch(/^exit code 3: .*could not reach https:\/\/ann:\[redacted\]@git.example.com\n$/s);
    expect(setupError).not.toContain('9');
  },
  local,
);
