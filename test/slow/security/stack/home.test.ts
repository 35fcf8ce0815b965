import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type CliHome, createCliHome } from '../../../e2e/cli/program.js';
import { patient } from '../../../e2e/stack/fixture.js';

const stackFiles = ['temporal.db', 'local-api-key', 'logs/temporal.log'];
const pathsOf = ({ home }: CliHome): string[] =>
  ['.', 'logs'].flatMap((folder) => readdirSync(join(home, folder)).map((name) => join(folder, name)));
const modeOf = (path: string): number => statSync(path).mode & 0o777;
const openToOthers = (cli: CliHome): string[] => pathsOf(cli).filter((path) => modeOf(join(cli.home, path)) & 0o077);

describe('the home of a running stack', () => {
  let cli: CliHome;
  let said: Readonly<Record<string, string>>;

  beforeAll(async () => {
    cli = createCliHome();
    chmodSync(cli.home, 0o755);
    const stack = cli.start(['up', '--foreground', '--ready-json']);
    await vi.waitFor(() => expect(stack.stdout(), stack.stderr()).toMatch(/\n$/), patient);
    said = JSON.parse(stack.stdout());
  });
  afterAll(() => cli?.close());

  it('can be read only by its user, including each file that Temporal writes', () => {
    expect(modeOf(cli.home)).toBe(0o700);
    expect(pathsOf(cli)).toEqual(expect.arrayContaining(stackFiles));
    expect(openToOthers(cli)).toEqual([]);
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

describe('only its user can read', () => {
  function ownHome(): CliHome {
    const cli = createCliHome();
    onTestFinished(() => cli.close());
    return cli;
  }

  it('each file of a stack in the background', async () => {
    const cli = ownHome();
    const supervisor = cli.start(['supervisor']);
    await vi.waitFor(
      () => expect(pathsOf(cli), supervisor.stderr()).toEqual(expect.arrayContaining(stackFiles)),
      patient,
    );
    expect(openToOthers(cli)).toEqual([]);
  });

  it.each(['worker', 'bridge'])('what Node writes about a %s, such as a report with its keys', async (server) => {
    const cli = ownHome();
    // Whoever connects waits, with all settings read.
    const silent = createServer();
    onTestFinished(() => void silent.close());
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const connected = once(silent, 'connection');
    const program = cli.start([server], {
      NODE_OPTIONS: `--report-on-signal --report-directory=${cli.home}`,
      TEMPORAL_ADDRESS: `127.0.0.1:${port}`,
      SANDBOX_API_URL: `http://127.0.0.1:${port}`,
      SANDBOX_API_KEY: 'a-key-of-this-test',
      SANDBOX_WEBHOOK_SECRET: 'whsec_secret-of-this-test',
    });
    const [socket] = await connected;
    onTestFinished(() => void socket.destroy());
    program.process.kill('SIGUSR2');
    const report = () => readdirSync(cli.home).find((name) => /^report.*json$/.test(name));
    await vi.waitFor(() => expect(report(), cli.said()).toBeDefined(), patient);
    const path = join(cli.home, report() ?? '');
    await vi.waitFor(() => expect(readFileSync(path, 'utf8')).toContain('a-key-of-this-test'), patient);
    expect(modeOf(path)).toBe(0o600);
  });

  it('the directory of a local service, new or open to others before', async () => {
    for (const [name, create] of [
      ['new', () => undefined],
      ['open', (path: string) => mkdirSync(path, { mode: 0o755 })],
    ] as const) {
      const cli = ownHome();
      const directory = join(cli.home, name);
      create(directory);
      const local = cli.start(['local', '--port', '0', '--directory', name, '--ready-json']);
      await vi.waitFor(() => expect(local.stdout(), local.stderr()).toMatch(/\n$/), patient);
      expect(modeOf(directory), name).toBe(0o700);
    }
  });
});
