/** A user without a name and without a home, as in containers. Tier: processes, about 5 s. */
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { built, otherUser, requireRoot, runAsOther } from '../../../setup/other-user.js';

let around: string;
beforeEach((context) => {
  requireRoot(context);
  around = mkdtempSync(join(tmpdir(), 'sandflow-other-'));
  chmodSync(around, 0o755);
});
afterEach(() => rmSync(around, { recursive: true, force: true }));

const cli = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runAsOther([built('src/cli/main.js'), ...args], { env });

/** A folder of the other user, or of root, that only its owner may write. */
function folderOf(uid: number, name: string): string {
  const path = join(around, name);
  mkdirSync(path);
  chownSync(path, uid, uid);
  return path;
}

/** Nothing listens there: a worker refuses its files before it calls anybody. */
const configured = {
  TEMPORAL_ADDRESS: '127.0.0.1:9',
  SANDBOX_API_URL: 'http://127.0.0.1:9/v1',
  SANDBOX_API_KEY: 'key_of_other_user',
};

describe.each([
  ['without HOME', {}],
  ['with HOME=/', { HOME: '/' }],
])('a user without a home, %s', (_, env: Record<string, string>) => {
  it('is told that SANDFLOW_HOME is not writable, and by whom', async () => {
    for (const args of [['run', '--prompt', 'hello'], ['up']]) {
      const said = `SANDFLOW_HOME (/.local/state/sandflow) is not writable by user ${otherUser}: set it to a directory`;
      expect(await cli(args, env)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(said) });
    }
  });

  it('runs commands that need no home', async () => {
    expect(await cli(['config', '--json'], env)).toMatchObject({ exitCode: 0 });
    const { exitCode, stderr } = await cli(['jobs', 'list'], {
      ...env,
      ...configured,
      SANDFLOW_PATIENCE_SECONDS: '0.1',
    });
    expect({ exitCode, stderr }).toEqual({ exitCode: 3, stderr: expect.stringContaining('Temporal at 127.0.0.1:9') });
  });
});

describe('a worker tells at its start', () => {
  it('a result store that this user may not write, with its path and the user', async () => {
    const results = folderOf(0, 'results');
    const home = folderOf(otherUser, 'home');
    const env = { ...configured, SANDFLOW_HOME: home, SANDFLOW_RESULTS: results };
    expect(await cli(['worker'], env)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(`The result store ${results} cannot be written by user ${otherUser} (EACCES)`),
    });
  });

  it('a key file that this user may not read, and what to run', async () => {
    const file = join(around, 'key');
    writeFileSync(file, 'key_of_root\n', { mode: 0o400 });
    const { SANDBOX_API_KEY: _, ...others } = configured;
    const { exitCode, stderr } = await cli(['worker'], { ...others, SANDBOX_API_KEY_FILE: file });
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`cannot be read by user ${otherUser}: it belongs to user 0 and group 0, with mode 400`);
    expect(stderr).toContain(`Run \`chown ${otherUser} ${file}\``);
  });

  it('a TLS key of Temporal that this user may not read', async () => {
    const file = join(around, 'tls.pem');
    writeFileSync(file, 'a key\n', { mode: 0o400 });
    const paths = { TEMPORAL_TLS_CLIENT_KEY_PATH: file, TEMPORAL_TLS_CLIENT_CERT_PATH: file };
    const said = `permission denied by user ${otherUser}, open '${file}'`;
    expect(await cli(['worker'], { ...configured, ...paths })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(said),
    });
  });
});
