/** Temporal behind TLS with a certificate of a private authority. Tier: temporal, about 2 s. */
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { readConfig } from '../../src/config.js';
import { connectTemporal } from '../../src/temporal/connect.js';
import { connectWorker } from '../../src/temporal/connect-worker.js';
import {
  createPrivateAuthority,
  missingForAuthority,
  type PrivateAuthority,
  terminateTls,
} from '../setup/private-ca.js';

const missing = missingForAuthority();
let authority: PrivateAuthority | undefined;
let front: Awaited<ReturnType<typeof terminateTls>> | undefined;
beforeAll(async () => {
  if (missing) return;
  authority = createPrivateAuthority();
  front = await terminateTls(Number(inject('temporalAddress').split(':')[1]), authority);
});
afterAll(async () => {
  await front?.close();
  authority?.close();
});

const settings = (more: Record<string, string> = {}) =>
  readConfig({ TEMPORAL_ADDRESS: front?.address, TEMPORAL_TLS: 'true', ...more }).temporal.connect;

it('clients and workers trust it with NODE_EXTRA_CA_CERTS alone', async (context) => {
  if (missing) return context.skip(missing);
  const target = settings({ NODE_EXTRA_CA_CERTS: authority?.file ?? '' });
  const client = await connectTemporal(target);
  await client.connection.close();
  const { connection } = await connectWorker(target);
  await connection.workflowService.getSystemInfo({});
  await connection.close();
});

it('clients and workers refuse it otherwise, and workers say what to name', async (context) => {
  if (missing) return context.skip(missing);
  await expect(connectTemporal(settings(), { timeoutMs: 500 })).rejects.toMatchObject({ code: 'temporal_unreachable' });
  await expect(connectWorker(settings())).rejects.toMatchObject({
    code: 'temporal_unreachable',
    message: expect.stringMatching(/an authority that is not trusted here.* NODE_EXTRA_CA_CERTS/),
  });
});
