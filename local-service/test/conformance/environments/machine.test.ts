import { expect } from 'vitest';
import { rule } from '../rule.js';
import { openEnvironmentDesk } from './environment-desk.js';

const local = { needs: ['local'] } as const;
const envContents = "# settings\nexport REGION='north 1'\nURL=a=b\n";

rule(
  'environments.contents',
  'commands, the setup script and prompts get the variables, and a command’s own variables win',
  async () => {
    const { target, make, run } = await openEnvironmentDesk();
    make('settings', { envContents });
    const setupScript = 'echo "$REGION $URL" > setup.txt';
    const sandbox = await target.ready({ environment: 'settings', setupScript });
    expect(await run(sandbox, 'echo "$REGION $URL"')).toBe('north 1 a=b');
    expect(await run(sandbox, 'echo "$REGION $URL"', { REGION: 'south' })).toBe('south a=b');
    await expect
      .poll(async () => (await target.call('GET', `/sandboxes/${sandbox}`)).body.sandbox.setupStatus)
      .toBe('done');
    expect(await run(sandbox, 'cat setup.txt')).toBe('north 1 a=b');
    const { body } = await target.prompt(sandbox, '```sh\necho "agent $REGION"\n```');
    expect((await target.promptEnd(sandbox, body.promptId)).result).toContain('agent north 1');
    const bare = await target.ready({ noEnv: true });
    expect(await run(bare, 'echo "[$REGION]"')).toBe('[]');
  },
  local,
);

rule(
  'environments.contents',
  'a command agent gets the variables too, with those of the request',
  async () => {
    const commandAgents = { codex: { command: 'echo "$REGION $AGENT_PROVIDER"' } };
    const { target, make } = await openEnvironmentDesk({ commandAgents });
    make('settings', { envContents });
    const sandbox = await target.ready({ environment: 'settings' });
    const { body } = await target.prompt(sandbox, 'hello', { provider: 'codex' });
    expect((await target.promptEnd(sandbox, body.promptId)).result).toContain('north 1 codex');
  },
  local,
);

rule(
  'environments.contents',
  'a malformed line is refused by its number, without its content',
  async () => {
    const { make, put, read } = await openEnvironmentDesk();
    const id = make('malformed', { envContents });
    const refused = await put(id, { envContents: 'A=1\n\nhunter2 is no variable' });
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect(refused.body.message).toContain('line 3');
    expect(refused.text).not.toContain('hunter2');
    expect(await read(id)).toMatchObject({ envContents, versions: [{ versionNumber: 1 }] });
  },
  local,
);

rule(
  'environments.secret-files',
  'secret files are on the disk from the start, readable only by their owner, and survive a stop',
  async () => {
    const { target, make, run } = await openEnvironmentDesk();
    const secretFiles = [
      { path: '.config/tool/token', contents: 'token-1\n' },
      { path: '/home/sandbox/abs', contents: 'abs-1' },
      { path: '~/tilde', contents: 'tilde-1' },
    ];
    make('files', { secretFiles });
    const sandbox = await target.ready({ environment: 'files', setupScript: 'cp abs copied' });
    const look = 'stat -c %a .config/tool/token abs tilde; cat .config/tool/token abs tilde copied';
    await expect.poll(() => run(sandbox, look)).toBe('600\n600\n600\ntoken-1\nabs-1tilde-1abs-1');
    await run(sandbox, 'rm abs; chmod 644 tilde; echo changed > .config/tool/token');
    await target.archive(sandbox);
    await target.call('POST', `/sandboxes/${sandbox}/resume`, { body: {} });
    await target.reach(sandbox, 'ready');
    expect(await run(sandbox, look)).toBe('600\n600\n600\ntoken-1\nabs-1tilde-1abs-1');
  },
  local,
);

rule(
  'environments.secret-files',
  'a path outside the home is refused',
  async () => {
    const { make, put } = await openEnvironmentDesk();
    const id = make('paths');
    for (const path of ['../outside', '/etc/passwd', 'a/../../b', '~/../c', 'folder/', '/home/sandbox']) {
      const refused = await put(id, { secretFiles: [{ path, contents: 'hunter2' }] });
      expect(refused.status, path).toBe(400);
      expect(refused.body.message).toContain('secretFiles.0.path');
      expect(refused.text).not.toContain('hunter2');
    }
  },
  local,
);

rule(
  'environments.secret-files',
  'a link of the sandbox cannot redirect a secret file outside its disk, and a folder at its path does not block the sandbox',
  async () => {
    const { target, make, run } = await openEnvironmentDesk();
    make('links', {
      secretFiles: [
        { path: 'out/token', contents: 'hunter2' },
        { path: 'folder', contents: 'hunter2' },
        { path: 'plain', contents: 'here' },
      ],
    });
    const sandbox = await target.ready({ environment: 'links' });
    const outside = `${target.directory}/outside`;
    await run(sandbox, `mkdir -p ${outside}; rm -r out folder; ln -s ${outside} out; mkdir folder`);
    await target.archive(sandbox);
    await target.call('POST', `/sandboxes/${sandbox}/resume`, { body: {} });
    await target.reach(sandbox, 'ready');
    expect(await run(sandbox, `ls ${outside}; cat plain`)).toBe('here');
  },
  local,
);

rule(
  'environments.secret-files',
  'a link within the home takes no secret file elsewhere, where a wipe would not find it',
  async () => {
    const { target, make, upgrade, run } = await openEnvironmentDesk();
    const id = make('empty');
    const sandbox = await target.ready({ environment: 'empty' });
    await run(sandbox, 'mkdir real; ln -s real by-folder; ln -s tracked .env; echo mine > tracked');
    for (const path of ['.env', 'by-folder/token']) {
      const secretFiles = [{ path, contents: 'hunter2' }];
      await target.call('PUT', `/environments/${id}`, { body: { secretFiles } });
      expect((await upgrade(id)).body).toMatchObject({ upgraded: 0, failed: 1 });
      expect(await run(sandbox, 'ls real; cat tracked')).toBe('mine');
    }
  },
  local,
);

rule(
  'environments.secret-files',
  'a sandbox created from a snapshot does not keep the secret files of another environment',
  async () => {
    const { target, make, put, upgrade, run } = await openEnvironmentDesk();
    const id = make('source', { secretFiles: [{ path: 'first', contents: '1' }] });
    const source = await target.ready({ environment: 'source' });
    await run(source, 'echo mine > kept');
    await target.call('PATCH', `/sandboxes/${source}`, { body: { snapshotName: 'with-secrets' } });
    await target.archive(source);
    // The snapshot is older than this upgrade, which is why the file of the first version is on it.
    await put(id, { secretFiles: [{ path: 'second', contents: '2' }] });
    await target.call('POST', `/sandboxes/${source}/resume`, { body: {} });
    await target.reach(source, 'ready');
    await upgrade(id);
    expect(await run(source, 'ls')).toBe('kept\nsecond');
    const bare = await target.ready({ noEnv: true, from: 'with-secrets' });
    expect(await run(bare, 'ls')).toBe('kept');
    const same = await target.ready({ environment: 'source', from: 'with-secrets' });
    expect(await run(same, 'ls')).toBe('kept\nsecond');
  },
  local,
);

rule(
  'environments.contents',
  'no value of an environment is in the records or the log',
  async () => {
    const lines: string[] = [];
    const log = (...parts: readonly unknown[]) => void lines.push(JSON.stringify(parts));
    const { target, make, put, upgrade } = await openEnvironmentDesk({ log });
    const hidden = { envContents: 'A=hunter2', secretFiles: [{ path: 'f', contents: 'hunter2' }] };
    const id = make('hidden', hidden);
    const sandbox = await target.ready({ environment: 'hidden' });
    await put(id, { ...hidden, envContents: 'A=hunter2\nB=hunter2' });
    await upgrade(id);
    await target.archive(sandbox);
    const { books } = target.service;
    const kept = [books.calls(), books.sandboxes(), books.prompts(), books.stops(), books.deliveries()];
    expect(JSON.stringify(kept)).not.toContain('hunter2');
    expect(lines.join('\n')).not.toContain('hunter2');
  },
  local,
);
