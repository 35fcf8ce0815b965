/** Programs with keys that the workers do not have start nothing. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { Runtime } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { newKeyLine, parseKeyRing } from '../../../src/encryption/index.js';
import { agreeOnKeys } from '../../../src/temporal/deployment-keys.js';
import { type CliOutcome, cli } from '../../unit/cli/in-process.js';
import { createStand, type Stand } from '../workflow-harness.js';

const deployment = `k${randomBytes(5).toString('hex')}`;
const known = newKeyLine('known');
let stand: Stand;
let directory: string;
beforeAll(async () => {
  stand = await createStand();
  // A worker installs a runtime of its own; the process of the tests has one.
  vi.spyOn(Runtime, 'install').mockImplementation(() => Runtime.instance());
  directory = await mkdtemp(join(tmpdir(), 'sandflow-keys-'));
  await writeFile(join(directory, 'other'), newKeyLine('other'), { mode: 0o600 });
  await writeFile(join(directory, 'other-key-of-the-id'), newKeyLine('known'), { mode: 0o600 });
  const client = new Client({ connection: await Connection.connect({ address: inject('temporalAddress') }) });
  await agreeOnKeys(client, { deployment, ring: parseKeyRing(known), announce: true });
  await client.connection.close();
});
afterAll(async () => {
  vi.restoreAllMocks();
  await stand.close();
  await rm(directory, { recursive: true });
});

describe('with keys that do not match those of the deployment', () => {
  it.each([['run', 'hello'], ['jobs', 'list'], ['bridge', '--port', '0'], ['worker']])(
    '%s %s refuses to start',
    async (...args) => {
      const keys: Readonly<Record<string, string>>[] = ['other', 'other-key-of-the-id'].map((name) => ({
        SANDFLOW_ENCRYPTION_KEYS_FILE: join(directory, name),
      }));
      for (const env of [...keys, {}]) {
        const { exitCode, stderr }: CliOutcome = await cli(args.filter(Boolean), {
          env: {
            TEMPORAL_ADDRESS: inject('temporalAddress'),
            SANDBOX_API_URL: stand.service.url,
            SANDBOX_API_KEY: 'test-key',
            SANDBOX_WEBHOOK_SECRET: 'whsec_of-the-test',
            SANDFLOW_DEPLOYMENT: deployment,
            ...env,
          },
        });
        expect(stderr).toMatch(new RegExp(`deployment "${deployment}"`));
        expect(exitCode).toBe(2);
      }
      const { count } = await stand.client.workflow.count(`WorkflowId STARTS_WITH 'sf-${deployment}'`);
      expect(count).toBe(0);
      expect((await stand.api.listSandboxes({})).sandboxes).toEqual([]);
    },
  );
});
