/**
 * A job of three rounds, whose worker is killed with SIGKILL at each call, before the service gets it and before the worker
 * has the answer, and at every fourth event of its history: one job for each death. Its rounds, prompts, runs of the check
 * and outcome are those of the job without a death. Some 75 deaths, five minutes.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../..', import.meta.url));
const tsc = fileURLToPath(new URL('../../../../node_modules/typescript/bin/tsc', import.meta.url));
const program = fileURLToPath(new URL('../../../world/.out/test/world/crashes/main.js', import.meta.url));
const timeout = 900_000;

beforeAll(() => run(process.execPath, [tsc, '-p', 'test/world/tsconfig.json'], { cwd: root }), timeout);

it.each([
  ['each call', ['--when', 'before,accepted']],
  ['events of its history', ['--when', 'event', '--every', '4']],
] as const)(
  'a job of three rounds ends as without a death although its worker dies at %s',
  { timeout },
  async (_, chosen) => {
    const args = [program, '--scenario', 'checked-in-rounds', '--jobs', '17', ...chosen];
    // It exits with 1 if a promise was broken, and has said which.
    const ended = run(process.execPath, args, { cwd: root, timeout });
    const { stdout } = await ended.catch((error: { readonly stdout: string }) => error);
    const [, wanted] = /(\d+) chosen/.exec(stdout) ?? [];
    const [, struck] = /(\d+) deaths of the worker; 0 promises broken/.exec(stdout) ?? [];
    expect(Number(wanted), stdout).toBeGreaterThan(20);
    // Calls of a safety poll, and the last events, may not come again.
    expect(Number(struck), stdout).toBeGreaterThan(Number(wanted) * 0.8);
    expect(stdout).not.toContain(' other: ');
  },
);
