import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createLocalService } from '../../../local-service/src/index.js';
import { readSecrets } from '../../../src/bridge/index.js';
import { readConfig } from '../../../src/config.js';
import { registerBridge } from '../../../src/supervisor/start-stack.js';
import { readConnection } from '../../../src/supervisor/webhook-record.js';

const apiKey = 'test-key';
const url = 'http://127.0.0.1:9/webhooks/sandbox';

async function createHome() {
  const home = await mkdtemp(join(tmpdir(), 'sandflow-register-'));
  onTestFinished(async () => await rm(home, { recursive: true, force: true }));
  const apiKeyFile = join(home, 'api-key');
  await writeFile(apiKeyFile, `${apiKey}\n`);
  return { home, apiKeyFile, config: readConfig({ SANDFLOW_HOME: home }) };
}

it('registers the bridge once, saves the secret, and remembers the registration', async () => {
  const { home, apiKeyFile, config } = await createHome();
  const directory = join(home, 'service');
  const service = await createLocalService({ directory, apiKey, isolation: 'plain', log: () => undefined });
  onTestFinished(async () => await service.close());
  const { url: apiUrl } = await service.listen();
  await registerBridge(config, { localService: { apiUrl, apiKeyFile }, url });
  const [secrets, connection] = [await readSecrets(config.webhookSecretFile), await readConnection(config)];
  expect(secrets).toEqual([expect.stringMatching(/^whsec_/)]);
  expect(connection).toEqual({ apiUrl, webhookId: expect.stringMatching(/^wh_/) });
  await registerBridge(config, { localService: { apiUrl, apiKeyFile }, url });
  expect(await readSecrets(config.webhookSecretFile)).toEqual(secrets);
  expect(await readConnection(config)).toEqual(connection);
});

it('names the log of the local service, and the reason, if the service refuses', async () => {
  const { home, apiKeyFile, config } = await createHome();
  const directory = join(home, 'service');
  const service = await createLocalService({ directory, apiKey: 'another', isolation: 'plain', log: () => undefined });
  onTestFinished(async () => await service.close());
  const { url: apiUrl } = await service.listen();
  await expect(registerBridge(config, { localService: { apiUrl, apiKeyFile }, url })).rejects.toMatchObject({
    code: 'child_failed',
    message: expect.stringContaining(join(home, 'logs', 'local-service.log')),
  });
});
