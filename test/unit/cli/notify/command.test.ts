import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openNotifying } from '../../../../src/cli/notify/files.js';
import { keepNotifyCommand } from '../../../../src/cli/notify/notify-target.js';
import { readConfig } from '../../../../src/config.js';
import { notifyCommandId } from '../../../../src/notify/index.js';
import { cli } from '../in-process.js';
import { temporaryDirectory } from '../temporary-directory.js';

const service = { SANDBOX_API_URL: 'https://api.example.com/v1', SANDBOX_API_KEY: 'k' };
const elsewhere = { TEMPORAL_ADDRESS: 'temporal.example.com:7233', ...service };

describe('the notify commands of a worker', () => {
  it('are stored in SANDFLOW_HOME for the embedded stack, and sent nowhere', async () => {
    const home = await temporaryDirectory();
    await keepNotifyCommand('command: mail me', readConfig({ SANDFLOW_HOME: home }));
    const kept = JSON.parse(await readFile(join(home, 'notify-commands.json'), 'utf8'));
    expect(kept).toEqual({ [notifyCommandId('mail me')]: 'mail me' });
    const config = readConfig({ SANDFLOW_HOME: home, ...elsewhere });
    await expect(keepNotifyCommand('command: mail me', config)).rejects.toMatchObject({ code: 'bad_configuration' });
    await keepNotifyCommand('command-id:mail-me', config);
    await keepNotifyCommand('https://example.com', config);
    await keepNotifyCommand(undefined, config);
  });

  it('come from a file that a worker elsewhere gets, which must exist and be trusted', async () => {
    const home = await temporaryDirectory();
    const file = join(home, 'named.json');
    const open = (env: Record<string, string>) =>
      openNotifying(readConfig({ SANDFLOW_HOME: home, ...elsewhere, ...env }));
    expect((await open({})).notifyCommands).toBeUndefined();
    await expect(open({ SANDFLOW_NOTIFY_COMMANDS: file })).rejects.toThrow('does not exist');
    await writeFile(file, '{"a": "true"}', { mode: 0o600 });
    expect(await (await open({ SANDFLOW_NOTIFY_COMMANDS: file })).notifyCommands?.find('a')).toBe('true');
    await writeFile(join(home, 'open.json'), '{"a": "true"}');
    await chmod(join(home, 'open.json'), 0o666);
    await expect(open({ SANDFLOW_NOTIFY_COMMANDS: join(home, 'open.json') })).rejects.toMatchObject({
      code: 'file_not_trusted',
    });
    await expect(open({ SANDFLOW_NOTIFY_SECRET_FILE: join(home, 'none') })).rejects.toThrow('does not exist');
  });
});

describe('sandflow notify secret', () => {
  it('prints where the secrets are and never what they are', async () => {
    const home = await temporaryDirectory();
    const file = join(home, 'notify-secrets');
    const env = { SANDFLOW_HOME: home };
    const first = await cli(['notify', 'secret'], { env });
    expect(first).toEqual({ exitCode: 0, stdout: `${file}\n`, stderr: '' });
    const secret = await readFile(file, 'utf8');
    const again = await cli(['notify', 'secret', '--json'], { env });
    expect(JSON.parse(again.stdout)).toEqual({ file, secrets: 1, error: null });
    expect(await readFile(file, 'utf8')).toBe(secret);
    const configured = await cli(['notify', 'secret'], { env: { ...env, ...elsewhere } });
    expect(configured.stderr).toContain('use their own file');
    for (const { stdout, stderr } of [first, again, configured]) expect(stdout + stderr).not.toContain(secret.trim());
  });
});
