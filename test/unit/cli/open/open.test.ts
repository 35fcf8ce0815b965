import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openInBrowser } from '../../../../src/cli/open/browser.js';
import { cli } from '../in-process.js';
import { temporaryDirectory } from '../temporary-directory.js';

afterEach(() => void vi.useRealTimers());
afterEach(() => vi.unstubAllEnvs());

describe('sandflow open', () => {
  it('without a stack says how to start one, and starts none', async () => {
    for (const args of [['open'], ['open', 'nightly-42'], ['open', 'nightly-42', '--report']]) {
      const { exitCode, stdout, stderr } = await cli(args);
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
      expect(stderr).toMatch(/No stack is running in .*\. Start it with `sandflow up`\./);
    }
  });

  const configured = {
    TEMPORAL_ADDRESS: '127.0.0.1:9',
    TEMPORAL_NAMESPACE: 'team a',
    SANDBOX_API_URL: 'http://127.0.0.1:9/v1',
    SANDBOX_API_KEY: 'key',
  };

  it('prints the URL of a configured UI off a terminal', async () => {
    const env = { ...configured, SANDFLOW_TEMPORAL_UI: 'https://temporal.example.com/' };
    const url = 'https://temporal.example.com/namespaces/team%20a/workflows';
    expect(await cli(['open'], { env })).toEqual({ exitCode: 0, stdout: `${url}\n`, stderr: '' });
    const { stdout } = await cli(['open', '--json'], { env });
    expect(JSON.parse(stdout)).toEqual({ url, opened: false, error: null });
  });

  it('says which setting names the UI of a configured server', async () => {
    const { exitCode, stderr } = await cli(['open'], { env: configured });
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining('Set SANDFLOW_TEMPORAL_UI') });
    const wrong = await cli(['open'], { env: { ...configured, SANDFLOW_TEMPORAL_UI: 'javascript:alert(1)' } });
    expect(wrong).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('SANDFLOW_TEMPORAL_UI must begin with https://'),
    });
  });

  it('refuses --report without an id', async () => {
    expect(await cli(['open', '--report'])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('an id') });
  });
});

describe('the browser', () => {
  const url = new URL('https://temporal.example.com/a b;$(touch x)');

  async function opener(script: string) {
    const directory = await temporaryDirectory();
    const file = join(directory, 'opener');
    await writeFile(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return { file, seen: join(directory, 'seen') };
  }

  it('gets the URL as one argument, and no secret', async () => {
    vi.stubEnv('SANDBOX_API_KEY', 'key_secret');
    const { file, seen } = await opener('printf "%s\\n" "$#" "$1" "$SANDBOX_API_KEY" > "$(dirname "$0")/seen"');
    expect(await openInBrowser(url, file)).toBe(true);
    await expect.poll(() => readFile(seen, 'utf8')).toBe(`1\n${url.href}\n\n`);
  });

  it('may be missing, or refuse to start', async () => {
    // However long the program takes to fail.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    expect(await openInBrowser(url, '/no/such/opener')).toBe(false);
    expect(await openInBrowser(url, (await opener('exit 3')).file)).toBe(false);
  });

  it('may stay in the foreground', async () => {
    const { file } = await opener('until [ -e "$0.end" ] || [ ! -e "$0" ]; do sleep 0.1; done; exit 3');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const opening = openInBrowser(url, file);
    vi.advanceTimersByTime(2_000);
    expect(await opening).toBe(true);
    await writeFile(`${file}.end`, '');
  });
});
