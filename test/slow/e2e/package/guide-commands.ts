/** The commands that the README, the tour and the task pages print, and how to run them outside a clone. */
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../../../../src/config.js';
import type { Ended } from '../../../e2e/cli/program.js';
import { readSource, repository } from '../../../unit/house/source-imports.js';

export interface GuideCommand {
  readonly command: string;
  readonly exitCode: number;
}

/** Commands that do not end with 0 when they follow one another. */
const otherEnds: readonly (readonly [pattern: RegExp, exitCode: number])[] = [
  // The account has none of the sandboxes that the example protects, so the cleanup deletes nothing.
  [/^sandflow cleanup run examples\/cleanup-policy\.yaml /, 1],
  // It ends as the run that it shows.
  [/^sandflow cleanup report$/, 1],
  // No call of the job waits for a decision.
  [/^sandflow jobs resolve nightly-42 /, 2],
];

/** Commands of a clone, of which `install.test.ts` runs those that install, and commands that change the machine. */
const leftOut: readonly RegExp[] = [/^npm /, /^(?:systemctl|loginctl) /];

/** The commands of the shell blocks of a page, in their order. A line that ends with a backslash goes on in the next one. */
export function commandsOf(page: string): GuideCommand[] {
  const blocks = [...readSource(page).matchAll(/^```sh\n(.*?)^```/gms)];
  return blocks
    .flatMap(([, block = '']) =>
      block
        .trimEnd()
        .replaceAll(/ \\\n\s*/g, ' ')
        .split('\n'),
    )
    .map((line) => line.replace(/^npm ci && (?=npx )/, ''))
    .filter((line) => !leftOut.some((pattern) => pattern.test(line)))
    .map((line) => ({
      // A terminal would ask.
      command: line.replace(/^sandflow stop --all .*/, '$& --yes'),
      exitCode: otherEnds.find(([pattern]) => pattern.test(line))?.[1] ?? 0,
    }));
}

/** Puts the examples into the folder of the newcomer, who also has a git repository and `gh`. */
export function prepareFolder(folder: string): void {
  cpSync(join(repository, 'examples'), join(folder, 'examples'), { recursive: true });
  writeFileSync(join(folder, '.gitignore'), 'node_modules\n');
  const git = ['-c', 'user.name=newcomer', '-c', 'user.email=newcomer@example.com'];
  for (const args of [
    ['init', '-q'],
    ['add', '.'],
    [...git, 'commit', '-qm', 'Begin'],
  ]) {
    execFileSync('git', args, { cwd: folder });
  }
  const programs = join(folder, 'programs');
  mkdirSync(programs);
  const gh = join(programs, 'gh');
  writeFileSync(gh, `#!/bin/sh\necho '{"title":"Crash","body":"It crashes at the start."}'\n`);
  chmodSync(gh, 0o755);
}

/** The lines of the tour that install `sandflow` for all folders. */
export function globalInstalls(): string[] {
  return [...readSource('docs/tour.md').matchAll(/^npm install --global .*$/gm)].map(([line]) => line);
}

export interface ShellOptions {
  readonly folder: string;
  readonly home: string;
}

/** Runs a command as somebody types it, with the installed `sandflow` in the path. */
export function runInShell(command: string, { folder, home }: ShellOptions): Promise<Ended> {
  const foreign = /^(?:SANDBOX_|SANDFLOW_|TEMPORAL_|npm_)/i;
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
  const path = [join(folder, 'node_modules/.bin'), join(folder, 'programs'), process.env.PATH].join(':');
  const env = {
    ...inherited,
    PATH: path,
    HOME: folder,
    SANDFLOW_HOME: home,
    SANDFLOW_CACHE: readConfig().cacheDirectory,
  };
  return new Promise((resolve) => {
    const options = { cwd: folder, env, maxBuffer: 16 * 1024 * 1024, timeout: 120_000 };
    const child = execFile('bash', ['-o', 'pipefail', '-c', command], options, (error, stdout, stderr) =>
      resolve({ exitCode: error === null ? 0 : typeof error.code === 'number' ? error.code : null, stdout, stderr }),
    );
    child.stdin?.end();
  });
}
