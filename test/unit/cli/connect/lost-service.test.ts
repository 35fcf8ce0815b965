import { describe, expect, it } from 'vitest';
import { cli } from '../in-process.js';

/** For commands that would start unconfigured parts; the program to start does not exist. */
const commands = [
  ['run', 'hello'],
  ['up'],
  ['up', '--foreground'],
  ['webhooks', 'connect', '--url', 'https://bridge.example.com/webhooks/sandbox'],
  ['sandboxes'],
  ['jobs', 'list'],
  ['worker'],
];

const lost: readonly Record<string, string>[] = [{ SANDBOX_API_KEY: 'k' }, { TEMPORAL_ADDRESS: '127.0.0.1:9' }];

describe('an installation without the setting of its service', () => {
  it.each(commands)('%s %s starts no local service and names the missing setting', async (...args) => {
    for (const env of lost) {
      const { exitCode, stderr } = await cli(args.filter(Boolean), { env });
      expect(stderr).toContain('SANDBOX_API_URL');
      expect(exitCode).toBe(2);
    }
  });

  it('is the error bad_configuration', async () => {
    for (const env of lost) {
      const { stdout } = await cli(['run', 'hello', '--json'], { env });
      expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'bad_configuration' } });
    }
  });

  it('is reported by doctor', async () => {
    const { exitCode, stdout } = await cli(['doctor'], { env: { SANDBOX_API_KEY_FILE: '/run/secrets/key' } });
    expect(stdout).toMatch(/^failed +service +SANDBOX_API_KEY_FILE is set without SANDBOX_API_URL/m);
    expect(exitCode).toBe(1);
  });
});

describe('the address of a bridge', () => {
  it('must be https unless it is on this machine', async () => {
    const readConfig = () => Promise.reject(new Error('asked for settings'));
    const connect = (url: string) => cli(['webhooks', 'connect', '--url', url], { readConfig });
    expect(await connect('http://bridge.example.com/webhooks/sandbox')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('delivers only to https://'),
    });
    expect((await connect('http://127.0.0.1:7392/webhooks/sandbox')).stderr).toContain('asked for settings');
  });
});
