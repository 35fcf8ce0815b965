import { describe, expect, it } from 'vitest';
import { createSandboxClient } from '../../src/client/index.js';
import { readConfig } from '../../src/config.js';

const read = (forksPerSecond?: string) =>
  readConfig({ HOME: '/home/nobody', SANDFLOW_FORKS_PER_SECOND: forksPerSecond }).forksPerSecond;

describe('the form of requests', () => {
  const service = (env: Record<string, string>) =>
    readConfig({ SANDBOX_API_URL: 'https://api.example.com/v1', SANDBOX_API_KEY: 'k', ...env }).sandboxService;

  it('is that of the specification unless it is set', () => {
    expect(service({})).toMatchObject({ headerPrefix: undefined, omit: undefined, uuidKeys: undefined });
    const set = {
      SANDBOX_API_HEADER_PREFIX: 'X-Box-',
      SANDBOX_API_OMIT: 'name, ttlSeconds',
      SANDBOX_API_UUID_KEYS: '1',
    };
    expect(service(set)).toMatchObject({ headerPrefix: 'x-box-', omit: ['name', 'ttlSeconds'], uuidKeys: true });
  });

  it.each([
    ...['X-Box', '-', 'X Box-', 'X-Bö-', '_box-'].map((value) => ['SANDBOX_API_HEADER_PREFIX', value] as const),
    ...['prompt', 'name;ttlSeconds', 'name,', 'Name'].map((value) => ['SANDBOX_API_OMIT', value] as const),
  ])('is refused by the name of its variable: %s=%s', (name, value) => {
    expect(() => service({ [name]: value })).toThrow(new RegExp(`^${name} must be`));
  });
});

describe('the rate of forks', () => {
  it('is 20 per second by default, and may be less than one', () => {
    expect([read(), read(''), read('0.5')]).toEqual([20, 20, 0.5]);
  });

  it.each(['0', '-1', 'many', 'Infinity', '1e300'])('cannot be %s', (text) => {
    expect(() => read(text)).toThrow(/SANDFLOW_FORKS_PER_SECOND must be a number above 0.*at most 1000000000/);
  });
});

describe('an unconfigured service', () => {
  const noLocalService = (env: Record<string, string>) => readConfig({ HOME: '/home/nobody', ...env }).noLocalService;

  it('is replaced by a local one if nothing is configured, or only the secret of a bridge', () => {
    expect(noLocalService({})).toBeUndefined();
    expect(
      noLocalService({ SANDBOX_WEBHOOK_SECRET: 'whsec_x', SANDBOX_API_URL: '', SANDBOX_API_KEY: '' }),
    ).toBeUndefined();
  });

  it.each([
    [{ SANDBOX_API_KEY: 'the-secret' }, /SANDBOX_API_KEY is set without SANDBOX_API_URL/],
    [{ SANDBOX_API_KEY_FILE: '/run/secrets/key', SANDBOX_API_URL: '' }, /SANDBOX_API_KEY_FILE is set without/],
    [{ TEMPORAL_ADDRESS: 'temporal:7233' }, /Temporal server is configured.*but no service is\. Set SANDBOX_API_URL/],
  ])('is an error with %j, without secrets in the message', (env, message) => {
    expect(noLocalService(env)).toMatch(message);
    expect(noLocalService(env)).not.toContain('the-secret');
  });
});

describe('an http:// URL of the service', () => {
  const apiUrl = (url: string, more: Record<string, string> = {}) =>
    readConfig({ HOME: '/home/nobody', SANDBOX_API_URL: url, SANDBOX_API_KEY: 'k', ...more }).sandboxService?.apiUrl;

  it.each([
    'http://127.0.0.1:7391/v1',
    'http://127.8.9.1/v1',
    'http://[::1]:1/v1',
    'http://localhost/v1',
    'https://api.example.com/v1',
  ])('is accepted on this machine, as is https://: %s', (url) => expect(apiUrl(url)).toBe(url));

  it.each([
    'http://api.example.com/v1',
    'http://10.0.0.1/v1',
    'http://0.0.0.0/v1',
    'http://127.0.0.1.example.com/v1',
    'http://localhost.example.com/v1',
  ])('is refused elsewhere unless it is allowed: %s', (url) => {
    expect(() => apiUrl(url)).toThrow(expect.objectContaining({ code: 'bad_configuration' }));
    expect(() => apiUrl(url, { SANDBOX_API_ALLOW_HTTP: 'no' })).toThrow(/SANDBOX_API_ALLOW_HTTP=true/);
    expect(apiUrl(url, { SANDBOX_API_ALLOW_HTTP: '1' })).toBe(url);
    const client = { baseUrl: url, apiKey: 'k' };
    expect(() => createSandboxClient(client)).toThrow(expect.objectContaining({ code: 'bad_configuration' }));
    expect(createSandboxClient({ ...client, allowHttp: true })).toBeDefined();
  });
});

describe('encryption', () => {
  it('is off without a key file', () => {
    expect(readConfig({})).toMatchObject({ encryption: undefined, promptSummaries: true });
  });

  it('is one setting, and keeps prompts out of summaries unless requested', () => {
    const env = { SANDFLOW_ENCRYPTION_KEYS_FILE: '/etc/sandflow/keys' };
    const encryption = { keysFile: '/etc/sandflow/keys', requireEncrypted: false };
    expect(readConfig(env)).toMatchObject({ encryption, promptSummaries: false });
    const more = { ...env, SANDFLOW_REQUIRE_ENCRYPTED: 'true', SANDFLOW_PROMPT_SUMMARIES: 'yes' };
    expect(readConfig(more)).toMatchObject({ encryption: { requireEncrypted: true }, promptSummaries: true });
  });

  it('cannot be required without keys, nor with a value other than true and false', () => {
    for (const env of [{ SANDFLOW_REQUIRE_ENCRYPTED: 'true' }, { SANDFLOW_PROMPT_SUMMARIES: 'maybe' }]) {
      expect(() => readConfig(env)).toThrow(expect.objectContaining({ code: 'bad_configuration' }));
    }
  });
});

describe('a setting that is on or off', () => {
  const key = 'canary';
  const base = { HOME: '/home/nobody', TEMPORAL_ADDRESS: '127.0.0.1:7233', TEMPORAL_API_KEY: key };
  const spellings = (word: string) => [word, word.toUpperCase(), word[0]?.toUpperCase() + word.slice(1), ` ${word} `];
  const settings = [
    ['TEMPORAL_TLS', (env) => readConfig({ ...base, ...env }).temporal.connect.connectionOptions.tls !== false],
    ['SANDFLOW_PROMPT_SUMMARIES', (env) => readConfig({ ...base, ...env }).promptSummaries],
    ['SANDFLOW_SEARCH_ATTRIBUTES', (env) => readConfig({ ...base, ...env }).searchAttributes],
    [
      'SANDFLOW_REQUIRE_ENCRYPTED',
      (env) =>
        readConfig({ ...base, SANDFLOW_ENCRYPTION_KEYS_FILE: '/keys', ...env }).encryption?.requireEncrypted ?? false,
    ],
    [
      'SANDBOX_API_ALLOW_HTTP',
      (env) => isAccepted({ ...base, SANDBOX_API_URL: 'http://10.0.0.1/v1', SANDBOX_API_KEY: 'k', ...env }),
    ],
  ] satisfies [string, (env: Record<string, string>) => boolean][];

  it.each(settings)('takes the same words, in any case: %s', (name, read) => {
    for (const word of ['true', '1', 'yes', 'on'].flatMap(spellings)) {
      expect([word, read({ [name]: word })]).toEqual([word, true]);
    }
    for (const word of ['false', '0', 'no', 'off'].flatMap(spellings)) {
      expect([word, read({ [name]: word })]).toEqual([word, false]);
    }
  });

  it.each([...settings.map(([name]) => name), 'TEMPORAL_TLS_DISABLE_HOST_VERIFICATION'])(
    'refuses other words by its name: %s',
    (name) => {
      for (const word of ['ture', 'y', '2', 'enabled', 'null']) {
        const env = { ...base, SANDBOX_API_URL: 'https://10.0.0.1/v1', SANDBOX_API_KEY: 'k', [name]: word };
        expect(() => readConfig(env)).toThrow(
          expect.objectContaining({ code: 'bad_configuration', message: `${name} must be true or false.` }),
        );
      }
    },
  );

  function isAccepted(env: Record<string, string>): boolean {
    try {
      return readConfig(env).sandboxService !== undefined;
    } catch {
      return false;
    }
  }
});
