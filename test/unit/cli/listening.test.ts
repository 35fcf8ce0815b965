import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { expect, it, onTestFinished } from 'vitest';
import { createBridge } from '../../../src/bridge/index.js';
import { listened } from '../../../src/cli/serve/serving.js';
import { newKeyLine } from '../../../src/encryption/index.js';
import { cli } from './in-process.js';
import { temporaryDirectory } from './temporary-directory.js';

/** Reserved for documents, so no machine has it. */
const nowhere = '192.0.2.1';

it('a host that this machine does not have is refused by the name of its option', async () => {
  const home = await temporaryDirectory();
  const [keys, token] = [join(home, 'keys'), join(home, 'token')];
  await writeFile(keys, newKeyLine('k'), { mode: 0o600 });
  await writeFile(token, 'a-token-of-the-test-0123456789', { mode: 0o600 });
  const args = ['codec-server', '--token-file', token, '--port', '0', '--host'];
  for (const host of [nowhere, 'no-such-host.invalid']) {
    const { exitCode, stderr } = await cli([...args, host], { env: { SANDFLOW_ENCRYPTION_KEYS_FILE: keys } });
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining(`--host: ${host} is not an`) });
  }
});

it('an address of the metrics that cannot be had is not blamed on the port of the bridge', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void taken.close());
  const { port } = taken.address() as AddressInfo;
  const bridge = createBridge({ temporalClient: {} as Client, secrets: () => ['whsec_of-the-test'] });
  onTestFinished(() => bridge.close());
  const refused = (message: string) => expect.objectContaining({ message: expect.stringMatching(message) });
  for (const [metrics, message] of [
    [{ host: nowhere, port: 9465 }, '^--metrics: 192.0.2.1 is not an address of this machine'],
    [{ host: '127.0.0.1', port }, `^--metrics: port ${port} is in use`],
  ] as const) {
    await expect(listened(bridge.listen({ port: 0, metrics }), { option: '--metrics', ...metrics })).rejects.toThrow(
      refused(message),
    );
  }
  await expect(listened(bridge.listen({ port }))).rejects.toThrow(refused(`^--port: port ${port} is in use`));
});

it.each([
  ['bridge', 'A bridge needs a Temporal server. Set TEMPORAL_ADDRESS'],
  ['worker', 'A worker needs a service. Set SANDBOX_API_URL'],
])('a %s without settings says what it needs, and ends', async (server, needs) => {
  const { exitCode, stderr } = await cli([server]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining(needs) });
});

it('a worker whose key cannot be read says so and ends, before it takes a task', async () => {
  const env = { SANDBOX_API_URL: 'https://api.example.com/v1', SANDBOX_API_KEY_FILE: '/nosuch/key' };
  const { exitCode, stderr } = await cli(['worker'], { env });
  expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining('/nosuch/key') });
});

it('an address of the probes that cannot be had is blamed on --health', async () => {
  const { exitCode, stderr } = await cli(['worker', '--health', `${nowhere}:9466`]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringMatching(`--health: ${nowhere} is not`) });
});
