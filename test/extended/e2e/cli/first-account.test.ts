/**
 * `docs/first-account.md`, word by word, at a service of which six assumptions do not hold. Extended; costs some 60 CPU
 * seconds.
 */
import { appendFileSync, chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { createLocalService } from '../../../../local-service/src/index.js';
import { createCliHome } from '../../../e2e/cli/program.js';
import { commandsOf, prepareFolder, runInShell } from '../../../slow/e2e/package/guide-commands.js';
import { temporaryDirectory } from '../../../unit/cli/temporary-directory.js';

const main = fileURLToPath(new URL('../../../../dist/src/cli/main.js', import.meta.url));
const apiKey = 'sk_first_account_0123456789abcdef';
const deviations = [
  'A-header-family',
  'A-request-form.uuid-keys',
  'A-prompt-id',
  'A-event-ids',
  'A-stop-answer',
  'A-deletion-operation',
] as const;
const load = 'set -a; . ./account.env; set +a; ';

it('the page leads from a key to a job with a diff, and leaves nothing', async () => {
  const service = await createLocalService({
    ...{ directory: await temporaryDirectory(), apiKey, isolation: 'plain' },
    timings: { bootMs: 50, archiveMs: 50, deleteMs: 50 },
    deviations,
  });
  await service.listen();
  onTestFinished(() => service.close());
  const cli = createCliHome();
  onTestFinished(() => cli.close());
  const folder = cli.home;
  prepareFolder(folder);
  program('sandflow', `exec '${process.execPath}' '${main}' "$@"`);
  program(
    'editor',
    `sed -i 's|^SANDBOX_API_URL=.*|SANDBOX_API_URL=${service.url}|; s|^SANDBOX_API_KEY=.*|&${apiKey}|' "$1"`,
  );

  const run = (command: string) => {
    const isLoaded = readdirSync(folder).includes('account.env');
    return runInShell(`export EDITOR=editor; ${isLoaded ? load : ''}${command}`, { folder, home: folder });
  };

  for (const { command } of commandsOf('docs/first-account.md')) {
    const isProbe = command.includes('--probe');
    const typed = isProbe ? `${command} --yes` : command;
    const end = await run(typed);
    expect(end, `${typed}\n${end.stdout}\n${end.stderr}`).toMatchObject({
      exitCode: command.startsWith('sandflow doctor') ? 1 : 0,
    });
    if (isProbe) {
      const { settings } = record();
      expect(settings).toEqual({ SANDBOX_API_HEADER_PREFIX: 'x-box-', SANDBOX_API_UUID_KEYS: 'true' });
      for (const [name, value] of Object.entries(settings))
        appendFileSync(join(folder, 'account.env'), `${name}=${value}\n`);
      expect((await run(typed)).exitCode).toBe(1);
      expect(new Set(record().deviations)).toEqual(new Set(deviations));
    }
    if (command.startsWith('git apply')) expect(end.stdout).toContain('test.sh |');
    if (command.startsWith('sandflow sandboxes')) expect(end.stdout).not.toMatch(/bx_/);
  }
  const living = service.books.sandboxes().filter(({ gone }) => gone !== 'deleted');
  expect(living).toEqual([]);

  function program(name: string, script: string): void {
    mkdirSync(join(folder, 'programs'), { recursive: true });
    const path = join(folder, 'programs', name);
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
  }

  function record() {
    const probes = join(folder, '.local/state/sandflow-account/probes');
    const [name = ''] = readdirSync(probes).filter((file) => file.endsWith('.json'));
    return JSON.parse(readFileSync(join(probes, name), 'utf8'));
  }
}, 300_000);
