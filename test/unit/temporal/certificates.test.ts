/** The certificates in Temporal's settings are checked before anything connects. Tier: unit, half a second of openssl. */
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/config.js';
import { createPrivateAuthority, missingForAuthority, type PrivateAuthority } from '../../setup/private-ca.js';
import { temporaryDirectory } from '../cli/temporary-directory.js';

const names = ['CLIENT_CERT', 'CLIENT_KEY', 'SERVER_CA_CERT'] as const;
type Part = (typeof names)[number];

describe.skipIf(missingForAuthority() !== undefined)('certificates of Temporal', () => {
  let authority: PrivateAuthority;
  beforeAll(() => {
    authority = createPrivateAuthority();
  });
  afterAll(() => authority.close());

  const good = (): Record<Part, string> => ({
    CLIENT_CERT: authority.server.cert.toString(),
    CLIENT_KEY: authority.server.key.toString(),
    SERVER_CA_CERT: readFileSync(authority.file, 'utf8'),
  });
  /** The settings as texts, and as files that hold them. */
  const bothForms = async (parts: Partial<Record<Part, string>>) => {
    const folder = await temporaryDirectory();
    const given = Object.entries(parts);
    for (const [part, text] of given) writeFileSync(join(folder, part), text);
    return [
      Object.fromEntries(given.map(([part, text]) => [`TEMPORAL_TLS_${part}_DATA`, text])),
      Object.fromEntries(given.map(([part]) => [`TEMPORAL_TLS_${part}_PATH`, join(folder, part)])),
    ];
  };
  const refusedAs = (env: Record<string, string>, message: RegExp) =>
    expect(() => readConfig({ TEMPORAL_ADDRESS: 'temporal.example.com:7233', ...env })).toThrow(
      expect.objectContaining({ code: 'bad_configuration', message: expect.stringMatching(message) }),
    );

  it('are taken as texts and as files, with Windows line ends too', async () => {
    for (const change of [(text: string) => text, (text: string) => text.replaceAll('\n', '\r\n')]) {
      const parts = Object.fromEntries(Object.entries(good()).map(([part, text]) => [part, change(text)]));
      for (const env of await bothForms(parts)) {
        const { tls } = readConfig({ TEMPORAL_ADDRESS: 'a:1', ...env }).temporal.connect.connectionOptions;
        expect(tls).toMatchObject({ clientCertPair: { crt: expect.anything(), key: expect.anything() } });
      }
    }
  });

  it.each(names)('are refused by the name of the setting if one holds something else: %s', async (part) => {
    const pem = good()[part];
    const others = ['nothing', pem.replaceAll('\n', ' '), pem.slice(0, 60), Buffer.from(pem).toString('base64')];
    for (const text of others) {
      for (const env of await bothForms({ ...good(), [part]: text })) {
        refusedAs(env, new RegExp(`^TEMPORAL_TLS_${part}_(?:DATA|PATH) holds no (?:certificate|private key)`));
      }
    }
    for (const env of await bothForms({ ...good(), [part]: pem.replaceAll('\n', '\\n') })) {
      refusedAs(env, /in PEM: it has \\n in place of line ends/);
    }
    const [texts = {}] = await bothForms({ ...good(), [part]: `"${pem}"` });
    refusedAs(texts, new RegExp(`^TEMPORAL_TLS_${part}_DATA begins with a quotation mark`));
  });

  it('are refused without one of the two, with the key of another, and with a key that has a password', async () => {
    const { CLIENT_CERT, CLIENT_KEY } = good();
    for (const env of await bothForms({ CLIENT_CERT })) refusedAs(env, /^TEMPORAL_TLS_CLIENT_CERT_.* without its key/);
    for (const env of await bothForms({ CLIENT_KEY }))
      refusedAs(env, /^TEMPORAL_TLS_CLIENT_KEY_.* without its certificate/);
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const other = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    for (const env of await bothForms({ CLIENT_CERT, CLIENT_KEY: other })) {
      refusedAs(env, /^TEMPORAL_TLS_CLIENT_KEY_(\w+) is not the key of the certificate in TEMPORAL_TLS_CLIENT_CERT_\1/);
    }
    const locked = privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' });
    for (const env of await bothForms({ CLIENT_CERT, CLIENT_KEY: locked.toString() })) {
      refusedAs(env, /holds no private key without a password/);
    }
  });

  it('of a configuration file are named by its field', async () => {
    const file = join(await temporaryDirectory(), 'temporal.toml');
    writeFileSync(file, `[profile.default]\naddress = "a:1"\n[profile.default.tls]\nclient_cert_data = "x"\n`);
    refusedAs({ TEMPORAL_CONFIG_FILE: file }, /^client_cert in Temporal's configuration file is set without its key/);
  });

  it('do not count if TLS is off, or if they are empty', async () => {
    const [wrong = {}] = await bothForms({ CLIENT_CERT: 'x' });
    expect(readConfig({ ...wrong, TEMPORAL_TLS: 'no' }).temporal.connect.connectionOptions.tls).toBe(false);
    const empty = Object.fromEntries(
      names.flatMap((part) => [`${part}_DATA`, `${part}_PATH`].map((one) => [`TEMPORAL_TLS_${one}`, ''])),
    );
    expect(readConfig(empty).temporal.connect.connectionOptions.tls).toBeUndefined();
  });
});

it.each(names)('a file that does not exist is named by its setting: %s', (part) => {
  const env = { TEMPORAL_ADDRESS: 'a:1', [`TEMPORAL_TLS_${part}_PATH`]: '/nowhere/a.pem' };
  expect(() => readConfig(env)).toThrow(`TEMPORAL_TLS_${part}_PATH cannot be read: ENOENT`);
});

it('a configuration file that does not exist is an error, unless an address is named besides', () => {
  const env = { TEMPORAL_CONFIG_FILE: '/nowhere/temporal.toml' };
  expect(() => readConfig(env)).toThrow('TEMPORAL_CONFIG_FILE: /nowhere/temporal.toml does not exist.');
  expect(readConfig({ ...env, TEMPORAL_ADDRESS: 'a:1' }).temporal.configured).toBe(true);
});
