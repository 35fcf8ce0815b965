/** Secrets of every kind, each read by the code that reads it in a program. */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { readSecrets } from '../../../src/bridge/index.js';
import { notifyTargetOf } from '../../../src/cli/notify/notify-target.js';
import { checkUrl } from '../../../src/cli/webhooks/command.js';
import { readConfig } from '../../../src/config.js';
import {
  createCodecServer,
  createPayloadCodec,
  newKeyLine,
  parseKeyRing,
  readKeyRing,
} from '../../../src/encryption/index.js';
import { createNotifySecrets } from '../../../src/notify/index.js';
import { apiKeyOf } from '../../../src/os/key-file.js';
import { createSecretStore } from '../../../src/secret-store/index.js';

type Read = (secret: string, directory: string) => unknown;

const service = { SANDBOX_API_URL: 'https://api.example.com/v1' };
const temporal = { TEMPORAL_ADDRESS: '127.0.0.1:1' };
const codec = createPayloadCodec(parseKeyRing(newKeyLine('k')));

const fromEnvironment =
  (settings: (secret: string) => Record<string, string>): Read =>
  (secret, SANDFLOW_HOME) =>
    readConfig({ SANDFLOW_HOME, ...settings(secret) });

const fromFile =
  (read: (path: string) => unknown, line = (secret: string) => secret): Read =>
  async (secret, directory) => {
    const path = join(directory, 'secrets-of-a-file');
    await writeFile(path, `${line(secret)}\n`, { mode: 0o600 });
    await read(path);
  };

/** A random secret with the characters that a URL or JSON escapes. */
const random = () => `${randomBytes(12).toString('hex')}/+"${randomBytes(6).toString('hex')}=`;
const hex = () => randomBytes(16).toString('hex');

const kinds: readonly (readonly [kind: string, make: () => string, read: Read])[] = [
  ['API key', random, fromEnvironment((secret) => ({ ...service, SANDBOX_API_KEY: secret }))],
  ['API key and a line end', random, fromEnvironment((secret) => ({ ...service, SANDBOX_API_KEY: `${secret}\n` }))],
  ['API key in a file', random, fromFile((apiKeyFile) => apiKeyOf({ apiKeyFile }))],
  [
    'webhook secret',
    () => `whsec_${random()}`,
    fromEnvironment((secret) => ({ SANDBOX_WEBHOOK_SECRET: `whsec_other ${secret}` })),
  ],
  ['webhook secret in a file', () => `whsec_${random()}`, fromFile(readSecrets)],
  ['Temporal key', random, fromEnvironment((secret) => ({ ...temporal, TEMPORAL_API_KEY: `${secret}\n` }))],
  [
    'header for Temporal',
    random,
    fromEnvironment((secret) => ({ ...temporal, TEMPORAL_GRPC_META_AUTHORIZATION: `Basic ${secret}\n` })),
  ],
  ['key of a foreign codec server', random, fromEnvironment((secret) => ({ TEMPORAL_CODEC_AUTH: secret }))],
  [
    'line of a TLS key',
    random,
    // It is refused, since no certificate belongs to it, and kept all the same.
    (secret, directory) => {
      const key = `-----BEGIN PRIVATE KEY-----\n${secret}\n${hex()}\n-----END PRIVATE KEY-----\n`;
      const env = { TEMPORAL_TLS_CLIENT_CERT_DATA: 'certificate', TEMPORAL_TLS_CLIENT_KEY_DATA: key };
      const read = fromEnvironment(() => ({ ...temporal, ...env }));
      expect(() => read(secret, directory)).toThrow('TEMPORAL_TLS_CLIENT_CERT_DATA holds no certificate');
    },
  ],
  ['codec key', () => newKeyLine('k').slice(2), fromFile(readKeyRing, (secret) => `k:${secret}`)],
  ['token of the codec server', random, (token) => createCodecServer({ codec, token: `${token}\n`, origins: [] })],
  [
    'secret of notifications',
    () => `whsec_${randomBytes(32).toString('base64')}`,
    fromFile((path) => createNotifySecrets(path)()),
  ],
  ['stored secret', random, (secret, directory) => createSecretStore(join(directory, 'secrets')).put('name', secret)],
  ['password of a proxy', hex, fromEnvironment((secret) => ({ https_proxy: `http://me:${secret}@127.0.0.1:3128` }))],
  ['token of a notification', hex, (secret) => notifyTargetOf(`https://hooks.example.com/x?token=${secret}`)],
  ['path of a notification', hex, (secret) => notifyTargetOf(`https://hooks.example.com/services/T1/${secret}`)],
  ['token of a webhook', hex, (secret) => checkUrl(`https://bridge.example.com/webhooks/sandbox?key=${secret}`)],
];

/** Each kind, with a function that makes a secret and lets a program read it. */
export const canaries = kinds.map(([kind, make, read]) => ({
  kind,
  async read(directory: string): Promise<string> {
    const secret = make();
    await read(secret, directory);
    return secret;
  },
}));
