import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { openNotifying } from '../../../../src/cli/notify/files.js';
import { readConfig } from '../../../../src/config.js';
import { cli } from '../in-process.js';
import { temporaryDirectory } from '../temporary-directory.js';

const service = { SANDBOX_API_URL: 'https://api.example.com/v1', SANDBOX_API_KEY: 'k' };
const elsewhere = { TEMPORAL_ADDRESS: 'temporal.example.com:7233', ...service };

test('a worker does not start without the file of secrets that was named', async () => {
  const home = await temporaryDirectory();
  const open = (env: Record<string, string>) => openNotifying(readConfig({ SANDFLOW_HOME: home, ...env }));
  expect((await open({})).notifySecrets).toBeDefined();
  await expect(open({ SANDFLOW_NOTIFY_SECRET_FILE: join(home, 'none') })).rejects.toThrow('does not exist');
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
