/**
 * The short form of the world. Fixed seeds must break no promise. One new seed is tried and reported, because a world
 * that fails for the first time is news and no regression.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../..', import.meta.url));
const tsc = fileURLToPath(new URL('../../../../node_modules/typescript/bin/tsc', import.meta.url));
const jobs = '8';
const patient = 300_000;
const playMs = 240_000;
/** The compiler takes some seconds for each patch. */
const patchesMs = 1_800_000;

/** @returns the output and the exit code: 1 if a world broke a promise */
async function play(
  program: string,
  args: readonly string[],
): Promise<{ readonly text: string; readonly code: number }> {
  const built = fileURLToPath(new URL(`../../../world/.out/test/world/${program}`, import.meta.url));
  try {
    const { stdout } = await run(process.execPath, [built, '--jobs', jobs, ...args], { cwd: root, timeout: playMs });
    return { text: stdout, code: 0 };
  } catch (error) {
    const { stdout = '', stderr = '', code } = error as { stdout?: string; stderr?: string; code?: number };
    return { text: `${stdout}${stderr}`, code: code ?? -1 };
  }
}

beforeAll(async () => {
  await run(process.execPath, [tsc, '-p', 'test/world/tsconfig.json'], { cwd: root });
}, patient);

describe.concurrent('a world of jobs, faults, other people and deaths', () => {
  it('breaks no promise, for fixed seeds', { timeout: patient }, async () => {
    const { text, code } = await play('main.js', ['--seed', '1', '--worlds', '2', '--parallel', '2']);
    expect(text).toContain('2 worlds');
    expect({ text, code }).toMatchObject({ code: 0 });
  });

  it('is played and reported for a new seed', { timeout: patient }, async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    const { text, code } = await play('main.js', ['--seed', String(seed)]);
    process.stderr.write(`a world of a new seed, ${seed}:\n${text}`);
    // A world that hangs is reported like one that breaks a promise.
    if (code === 0) expect(text).toContain('1 worlds');
  });
});

describe('a defect that a world has to find', () => {
  it('is a patch that applies, to code that then compiles', { timeout: patchesMs }, async () => {
    const program = fileURLToPath(new URL('../../../world/.out/test/world/defects/main.js', import.meta.url));
    const { stdout } = await run(process.execPath, [program, '--check'], { cwd: root });
    expect(stdout).toMatch(/^\d+ of \d+ patches apply and compile\n$/);
  });
});
