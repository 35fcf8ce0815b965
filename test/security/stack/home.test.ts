import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type CliHome, createCliHome } from '../../e2e/cli/program.js';
import { patient } from '../../e2e/stack/fixture.js';

describe('C7: the home of a running stack', () => {
  let cli: CliHome;
  let said: Readonly<Record<string, string>>;

  beforeAll(async () => {
    cli = createCliHome();
    chmodSync(cli.home, 0o755);
    const dev = cli.start(['dev', '--ready-json']);
    await vi.waitFor(() => expect(dev.stdout(), dev.stderr()).toMatch(/\n$/), patient);
    said = JSON.parse(dev.stdout());
  });
  afterAll(() => cli?.close());

  it('can be read only by its user, including each file that Temporal writes', () => {
    expect(statSync(cli.home).mode & 0o777).toBe(0o700);
    const paths = ['.', 'logs'].flatMap((folder) =>
      readdirSync(join(cli.home, folder)).map((name) => join(folder, name)),
    );
    expect(paths).toEqual(expect.arrayContaining(['temporal.db', 'local-api-key', 'logs/temporal.log']));
    const open = paths.filter((path) => statSync(join(cli.home, path)).mode & 0o077);
    expect(open).toEqual([]);
  });

  it('does not restrict file modes inside sandboxes', async () => {
    const { sandboxApiUrl = '', sandboxApiKeyFile = '' } = said;
    expect(sandboxApiKeyFile).toBe(join(cli.home, 'local-api-key'));
    const headers = {
      authorization: `Bearer ${readFileSync(sandboxApiKeyFile, 'utf8').trim()}`,
      'content-type': 'application/json',
    };
    const call = async (path: string, body: object) => {
      const answer = await fetch(`${sandboxApiUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      return (await answer.json()) as { sandbox?: { id: string }; stdout?: string };
    };
    const { sandbox } = await call('/sandboxes', { name: 'modes' });
    const umask = async () => (await call(`/sandboxes/${sandbox?.id}/commands`, { command: 'umask' })).stdout?.trim();
    await vi.waitFor(async () => expect(await umask()).toBe('0022'), patient);
  });
});
