/** `sandflow codec-server`, as Temporal's own command line uses it. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { expect, inject, it, onTestFinished } from 'vitest';
import { readConfig } from '../../../src/config.js';
import { createEncryptedDataConverter, newKeyLine, parseKeyRing } from '../../../src/encryption/index.js';
import { findTemporalServer } from '../../../src/temporal-server/find.js';
import { cli } from '../../unit/cli/in-process.js';
import { canary } from './encrypted-harness.js';

const token = `token-of-the-test-${randomUUID()}`;

it('the command decodes for Temporal’s command line with the token, and for nobody else', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'sandflow-codec-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const files = { keys: join(directory, 'keys'), token: join(directory, 'token') };
  const key = newKeyLine('one');
  await writeFile(files.keys, key, { mode: 0o600 });
  await writeFile(files.token, `${token}\n`, { mode: 0o600 });

  const address = inject('temporalAddress');
  const dataConverter = createEncryptedDataConverter(parseKeyRing(key));
  const client = new Client({ connection: await Connection.connect({ address }), dataConverter });
  onTestFinished(() => client.connection.close());
  const [text, workflowId] = [canary('argument'), `codec-${randomUUID()}`];
  const handle = await client.workflow.start('untaken', { workflowId, taskQueue: workflowId, args: [text] });
  onTestFinished(async () => void (await handle.terminate()));

  const end = new AbortController();
  let endpoint = '';
  const served = cli(
    ['codec-server', '--port', '0', '--origin', 'http://127.0.0.1:8233', '--token-file', files.token],
    {
      env: { SANDFLOW_ENCRYPTION_KEYS_FILE: files.keys },
      interrupted: end.signal,
      onStderr: (said) => {
        endpoint = /http:\S+(?=;)/.exec(said)?.[0] ?? '';
      },
    },
  );
  onTestFinished(async () => {
    end.abort();
    expect((await served).exitCode).toBe(0);
  });
  await expect.poll(() => endpoint).not.toBe('');
  const binary = await findTemporalServer({ cacheDirectory: readConfig().cacheDirectory });
  const show = async (...more: string[]) => {
    const args = ['workflow', 'show', '--workflow-id', workflowId, '--address', address, '--output', 'json', ...more];
    const { stdout, stderr } = await promisify(execFile)(binary, args).catch((error) => error);
    return `${stdout}${stderr}`;
  };
  const codec = (auth: string) => ['--codec-endpoint', endpoint, '--codec-auth', auth];
  // Its JSON contains payloads as they are on the wire.
  const decoded = Buffer.from(JSON.stringify(text)).toString('base64');
  expect(await show(...codec(`Bearer ${token}`)), endpoint).toContain(decoded);
  expect(await show(...codec('Bearer another'))).not.toContain(decoded);
  expect(await show()).not.toContain(decoded);
});
