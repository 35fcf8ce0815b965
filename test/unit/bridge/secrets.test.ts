import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { beforeEach, describe, expect, it } from 'vitest';
import { createBridge, createSecretSource } from '../../../src/bridge/index.js';
import { checkSecret } from '../../../src/cli/doctor/check-webhook.js';
import { readConfig } from '../../../src/config.js';
import { temporaryDirectory } from '../cli/temporary-directory.js';

let file: string;
beforeEach(async () => {
  file = join(await temporaryDirectory(), 'webhook-secrets');
});

const utf16 = Buffer.from('\uFEFFwhsec_CANARY\r\n', 'utf16le');
const bad: readonly (readonly [string, string | Buffer])[] = [
  ['nothing after whsec_', 'whsec_'],
  ['UTF-16', utf16],
  ['a control character', 'whsec_CAN\u0007ARY'],
  ['one good secret and an API key', 'whsec_good,key_CANARY'],
];

it.each(bad)('%s is refused as a webhook secret by its name, in the environment and in a file', async (_, content) => {
  const refused = (name: string) =>
    expect.objectContaining({
      code: 'bad_configuration',
      message: expect.stringMatching(`^${name}(?:, the file of webhook secrets, is UTF-16| holds)`),
    });
  expect(() => readConfig({ SANDBOX_WEBHOOK_SECRET: content.toString() })).toThrow(refused('SANDBOX_WEBHOOK_SECRET'));

  await writeFile(file, content);
  const bridge = createBridge({ temporalClient: {} as Client, secrets: createSecretSource({ fixed: [], file }) });
  await expect(bridge.listen({ port: 0 })).rejects.toThrow(refused(file));
  await bridge.close();
  const check = await checkSecret({ webhookSecrets: [], webhookSecretFile: file });
  expect(check).toMatchObject({ status: 'failed', message: expect.stringContaining(file) });
  expect(check.message).not.toContain('CANARY');
});

describe('a file of webhook secrets that is replaced', () => {
  const lines: string[] = [];
  const replace = async (content: string | Buffer) => {
    await writeFile(`${file}.next`, content);
    await rename(`${file}.next`, file);
  };

  it('by a bad one leaves the old secrets valid, which the log says once, until it is good again', async () => {
    await writeFile(file, '\uFEFFwhsec_old\r\n');
    const secrets = createSecretSource({ fixed: ['whsec_fixed'], file, log: (line) => lines.push(line) });
    expect(await secrets()).toEqual(['whsec_old', 'whsec_fixed']);
    await replace(utf16);
    for (const _ of ['first', 'second']) expect(await secrets()).toEqual(['whsec_old', 'whsec_fixed']);
    expect(lines).toEqual([expect.stringContaining('stay valid')]);
    await replace('whsec_new\n');
    expect(await secrets()).toEqual(['whsec_new', 'whsec_fixed']);
  });
});
