import { inspect } from 'node:util';
import type { Client } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { createBridge } from '../../../src/bridge/index.js';
import { SandflowError } from '../../../src/errors/sandflow-error.js';
import { withoutSecrets } from '../../../src/errors/without-secrets.js';
import { headerSecret, keepSecret } from '../../../src/secrecy/known-secrets.js';
import { WorkerLogger } from '../../../src/temporal/runtime-log.js';
import { cli } from '../cli/in-process.js';
import { temporaryDirectory } from '../cli/temporary-directory.js';
import { canaries } from './canaries.js';

/** What a library throws: it quotes the secret in its message, and in the cause of its cause. */
function quoting(secret: string): Error {
  const innermost = new Error(`header "Bearer ${secret}" is invalid`);
  return new Error(`failed with ${secret}`, { cause: new Error('in between', { cause: innermost }) });
}

const failing = (secret: string, args: readonly string[]) =>
  cli(args, {
    readConfig: async () => {
      throw quoting(secret);
    },
  });

/** What leaves the process in each way if a library quotes the secret. */
const ways: Readonly<Record<string, (secret: string) => Promise<string>>> = {
  'messages of the command line': async (secret) => (await failing(secret, ['jobs', 'list'])).stderr,
  'its JSON': async (secret) => (await failing(secret, ['jobs', 'list', '--json'])).stdout,
  'the log of a worker': async (secret) => {
    const lines: string[] = [];
    const log = new WorkerLogger('INFO', (entry) => void lines.push(inspect(entry, { depth: 9 })));
    log.error(`failed with ${secret}`, { error: quoting(secret), fields: { list: [secret] }, [secret]: 1 });
    return lines.join('\n');
  },
  'the log of a bridge': async (secret) => {
    const lines: string[] = [];
    let isListening = false;
    const secrets = async () => {
      if (isListening) throw quoting(secret);
      return ['first'];
    };
    const log = (message: string, fields?: object) => void lines.push(inspect([message, fields]));
    const bridge = createBridge({ temporalClient: {} as Client, secrets, log });
    const { url } = await bridge.listen({ port: 0 });
    isListening = true;
    await fetch(`${url}/webhooks/sandbox`, { method: 'POST', body: '{}' });
    await bridge.close();
    return lines.join('\n');
  },
  'errors of the library': async (secret) => {
    const cause = quoting(secret);
    return inspect(new SandflowError('temporal_unreachable', `cannot be reached (${cause.message})`, { cause }));
  },
};

/** The spellings in which a library may quote a secret. */
const spellings = (secret: string): string[] => {
  const inUrl = encodeURIComponent(secret);
  return [
    secret,
    inUrl,
    inUrl.replace(/%../g, (code) => code.toLowerCase()),
    encodeURIComponent(inUrl),
    JSON.stringify(secret).slice(1, -1),
    JSON.stringify(JSON.stringify({ secret })),
    Buffer.from(secret).toString('hex'),
    ...['', 'u:', 'me:'].map((login) => Buffer.from(`${login}${secret}:x`).toString('base64')),
    Buffer.from(`Bearer ${secret}`).toString('base64url'),
  ];
};

describe.each(canaries)('$kind', ({ read }) => {
  it.each(Object.entries(ways))('is not in %s', async (_, send) => {
    const secret = await read(await temporaryDirectory());
    const text = await send(secret);
    expect(text).toContain('[redacted]');
    expect(text).not.toContain(secret);
    expect(text).not.toContain(JSON.stringify(secret).slice(1, -1));
  });

  it('is found in every spelling', async () => {
    const secret = await read(await temporaryDirectory());
    for (const spelling of spellings(secret)) {
      const text = withoutSecrets(`before ${spelling} after`);
      expect(text).toContain('[redacted]');
      expect(text).not.toContain(spelling);
      // Base64 leaves at most a character on each side, which the text around the secret decides, too.
      expect(text.length).toBeLessThan('before [redacted] after'.length + 26);
    }
  });
});

describe('known secrets', () => {
  it('leave other texts as they are, and short secrets, which are parts of words', () => {
    keepSecret('job');
    keepSecret('a-secret-of-this-test');
    const text = 'the job a-secret-of-another-test stays';
    expect(withoutSecrets(text)).toBe(text);
  });

  it('a secret of several lines is removed as a whole, line by line, and from JSON', () => {
    const key = '-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\nab==\n-----END KEY-----';
    keepSecret(`${key}\n`);
    for (const text of [key, JSON.stringify({ key }), 'line 2 is MIIEvQIBADANBgkq', encodeURIComponent(key)]) {
      expect(withoutSecrets(text)).toContain('[redacted]');
      expect(withoutSecrets(text)).not.toMatch(/MIIE|hkiG/);
    }
  });

  it('many backslashes take no quadratic time', () => {
    keepSecret('/begins-with-a-slash');
    const text = '\\'.repeat(2_000_000);
    expect(withoutSecrets(text)).toBe(text);
  });

  it('a header that cannot be sent is refused by the name of its setting', () => {
    for (const bad of ['canary-one\nline-two', 'canary one', 'canary\u0001one', 'canäry-one', '\n']) {
      const refuse = () => headerSecret('SOME_KEY', bad);
      expect(refuse).toThrow(
        expect.objectContaining({ code: 'bad_api_key', message: expect.stringMatching(/^SOME_KEY /) }),
      );
      expect(refuse).not.toThrow(/canary|canäry|line-two/);
    }
    expect(headerSecret('SOME_KEY', ' canary-one\r\n')).toBe('canary-one');
  });
});
