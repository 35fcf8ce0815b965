/**
 * `docs/coding-job.md`, word by word, but for the port of the git server. Extended; costs some 15 CPU seconds. It needs
 * bubblewrap, and git with `git daemon`.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { usableIsolations } from '../../../../local-service/test/service/machine/machine-fixture.js';
import { freePort } from '../../../../src/os/free-port.js';
import { createCliHome } from '../../../e2e/cli/program.js';
import { commandsOf, prepareFolder, runInShell } from '../../../slow/e2e/package/guide-commands.js';
import { readSource } from '../../../unit/house/source-imports.js';

const main = fileURLToPath(new URL('../../../../dist/src/cli/main.js', import.meta.url));
const page = 'docs/coding-job.md';
const blocks = (kind: string) =>
  [...readSource(page).matchAll(new RegExp(`^\`\`\`${kind}\\n(.*?)^\`\`\``, 'gms'))].map(([, block = '']) => block);
/** Durations differ from run to run. */
const timeless = (text: string) => text.replaceAll(/\b\d+(?:\.\d+)? (?:ms|s)\b/g, '…');

const missing = [
  ...(usableIsolations.includes('bubblewrap') ? [] : ['bubblewrap']),
  ...(existsSync(join(`${execFileSync('git', ['--exec-path'])}`.trim(), 'git-daemon')) ? [] : ['git daemon']),
];

it.skipIf(missing.length > 0)(
  `the page leads from an issue to a pushed branch${missing.map((one) => `, without ${one}`)}`,
  async () => {
    const cli = createCliHome();
    onTestFinished(() => cli.close());
    const folder = cli.home;
    const port = `${await freePort()}`;
    const withPort = (text: string) => text.replaceAll('9418', port);
    prepareFolder(folder);
    const examples = join(folder, 'examples/coding');
    for (const name of readdirSync(examples)) {
      writeFileSync(join(examples, name), withPort(readFileSync(join(examples, name), 'utf8')));
    }
    writeFileSync(join(folder, 'programs/sandflow'), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`, {
      mode: 0o755,
    });

    let said = '';
    for (const { command } of commandsOf(page)) {
      const typed = withPort(command);
      if (command.includes('git-server.sh')) {
        await serve(typed);
        continue;
      }
      const end = await runInShell(typed, { folder, home: join(folder, 'coding-home') });
      expect(end, `${typed}\n${end.stdout}\n${end.stderr}`).toMatchObject({ exitCode: 0 });
      said += `${end.stdout}${end.stderr}`;
    }
    for (const block of blocks('text')) expect(timeless(said)).toContain(timeless(block));

    /** Runs the git server in the second terminal of the reader. */
    async function serve(command: string): Promise<void> {
      const server = spawn('sh', ['-c', `exec ${command}`], { cwd: folder, stdio: 'ignore' });
      const ended = once(server, 'exit');
      onTestFinished(async () => {
        server.kill();
        await ended;
      });
      await expect.poll(() => isOpen(Number(port)), { message: 'the git server listens' }).toBe(true);
    }
  },
);

it('the files of the page are those of the example', () => {
  const [settings, item = ''] = blocks('json');
  expect(settings).toBe(readSource('examples/coding/local-service.json'));
  expect(readSource('examples/coding/issues.jsonl').startsWith(item)).toBe(true);
  expect(item).not.toBe('');
  const withoutComments = readSource('examples/coding/batch.yaml').replaceAll(/^#.*\n/gm, '');
  expect(blocks('yaml')).toEqual([withoutComments]);
});

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const isConnected = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
  });
  socket.destroy();
  return isConnected;
}
