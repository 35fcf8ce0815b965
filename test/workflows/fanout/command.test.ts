/** Whose folder of results is whose, after commands that fail, and where files are saved in it. Tier: temporal, about 15 s. */
import { existsSync, rmSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { cli as runCli } from '../../unit/cli/in-process.js';
import { temporaryDirectory } from '../../unit/cli/temporary-directory.js';
import { createStand, deployment, type Stand, script } from '../workflow-harness.js';
import { address, archivedSandbox } from './fanout-harness.js';

let stand: Stand;
let sandboxId: string;
beforeAll(async () => {
  stand = await createStand();
  sandboxId = await archivedSandbox(stand);
});
afterAll(() => stand.close());

interface Command {
  readonly cwd: string;
  readonly results?: string;
  /** Runs once the folder `got` is marked, before the first item is sent. */
  readonly onceMarked?: (stop: AbortController) => void;
}

const cli = (args: readonly string[], given: Command) => command(['fanout', ...args], given);

async function command(args: readonly string[], { cwd, results = stand.resultsDirectory, onceMarked }: Command) {
  const stop = new AbortController();
  const interrupted = stop.signal;
  const throwIfAborted = interrupted.throwIfAborted.bind(interrupted);
  interrupted.throwIfAborted = () => {
    if (existsSync(join(cwd, mark))) onceMarked?.(stop);
    throwIfAborted();
  };
  return await runCli(args, {
    cwd,
    interrupted,
    env: {
      TEMPORAL_ADDRESS: inject('temporalAddress'),
      SANDBOX_API_URL: stand.service.url ?? '',
      SANDBOX_API_KEY: 'test-key',
      SANDFLOW_DEPLOYMENT: deployment,
      SANDFLOW_TASK_QUEUE: stand.taskQueue,
      SANDFLOW_RESULTS: results,
    },
  });
}

const mark = join('got', '.sandflow-batch');

/** A folder with items. */
async function workplace(): Promise<string> {
  const cwd = await temporaryDirectory();
  await writeFile(join(cwd, 'items.txt'), 'true\n');
  await writeFile(join(cwd, 'others.txt'), 'false\n');
  await writeFile(join(cwd, 'long.jsonl'), `${JSON.stringify({ prompt: script('sleep 600') })}\n`);
  await writeFile(join(cwd, 'notes.md'), '# notes');
  return cwd;
}

/** Starts a batch whose folder is somewhere else. */
async function start(cwd: string, items = 'long.jsonl'): Promise<string> {
  const { batchId } = address();
  const started = await cli([items, '--source', sandboxId, '--id', batchId, '--detach'], { cwd });
  expect(started).toMatchObject({ exitCode: 0 });
  return batchId;
}
const cancel = (batchId: string, cwd: string) => cli(['cancel', batchId, '--wait'], { cwd });

describe('a folder that a batch does not get, because its command is refused', () => {
  const source = () => ['--source', sandboxId];
  interface Row extends Omit<Command, 'cwd'> {
    readonly args: (existing: string) => readonly string[];
    readonly says: string;
  }
  const rows: Readonly<Record<string, Row>> = {
    'a new batch with the id of one with other items': {
      args: (id) => ['others.txt', ...source(), '--id', id],
      says: 'already exists with other',
    },
    'a new batch with the id of one with other settings': {
      args: (id) => ['long.jsonl', ...source(), '--id', id, '--concurrency', '3'],
      says: 'already exists with other settings',
    },
    'a new batch that Ctrl-C ends before its first item': {
      args: () => ['items.txt', ...source()],
      onceMarked: (stop) => stop.abort('SIGINT'),
      says: 'has started no batch',
    },
    'a resume of a batch that runs': { args: (id) => ['resume', id], says: 'is still running' },
    'a watch of no batch': { args: () => ['watch', 'nobody'], says: 'nobody' },
    'a watch that ends before the batch': { args: (id) => ['watch', id, '--watch-deadline', '1s'], says: 'watch' },
  };

  it.each(Object.entries(rows))('is free after %s', async (_, { args, says, ...command }) => {
    const cwd = await workplace();
    const needsOne = args.length > 0;
    const existing = needsOne ? await start(cwd) : '';
    const { exitCode, stderr } = await cli([...args(existing), '--out', 'got'], { cwd, ...command });
    expect(stderr).toContain(says);
    expect(exitCode).not.toBe(0);
    expect(await readdir(cwd)).not.toContain('got');
    if (needsOne) await cancel(existing, cwd);
  });

  it('is free after a file of its first item was lost', async () => {
    const cwd = await workplace();
    const onceMarked = () => rmSync(join(cwd, 'notes.md'), { force: true });
    const args = ['items.txt', ...source(), '--put', 'notes.md:notes.md', '--out', 'got'];
    const { exitCode, stderr } = await cli(args, { cwd, onceMarked });
    expect(stderr).toContain('notes.md');
    expect(exitCode).not.toBe(0);
    expect(await readdir(cwd)).not.toContain('got');
  });

  it('is free after the result store refused the setup script, and stays if it was there before', async () => {
    const cwd = await workplace();
    await mkdir(join(cwd, 'got'));
    await writeFile(join(cwd, 'setup.sh'), 'true\n'.repeat(100_000));
    const results = join(cwd, 'items.txt');
    const args = ['items.txt', '--setup', '@setup.sh', '--out', 'got'];
    const { exitCode, stderr } = await cli(args, { cwd, results });
    expect(stderr).toContain(results);
    expect(exitCode).not.toBe(0);
    expect(await readdir(join(cwd, 'got'))).toEqual([]);
  });
});

describe('a folder of a batch that runs', () => {
  it('stays that of the batch if its command ends, and is refused to the watch of another at once', async () => {
    const cwd = await workplace();
    const { batchId } = address();
    const args = ['long.jsonl', '--source', sandboxId, '--id', batchId, '--out', 'got', '--watch-deadline', '1s'];
    await cli(args, { cwd });
    expect(await readdir(join(cwd, 'got'))).toEqual(['.sandflow-batch']);

    const other = await start(cwd);
    const watched = cli(['watch', other, '--out', 'got', '--watch-deadline', '20s'], { cwd });
    expect(await watched).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(`--out: got is the folder of the batch ${batchId}. Choose another folder`),
    });
    for (const id of [batchId, other]) await cancel(id, cwd);
  });
});

describe('a file that --get places', () => {
  async function savedIn(folder: string): Promise<Record<string, string>> {
    const found = await readdir(folder, { recursive: true, withFileTypes: true });
    const paths = found.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
    const saved = paths.map(async (path) => [relative(folder, path), await readFile(path, 'utf8')] as const);
    return Object.fromEntries((await Promise.all(saved)).sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  it('is saved there by run, and below the folder of each item by every command of a batch', async () => {
    const cwd = await temporaryDirectory();
    const prompt = (name: string) => script(`mkdir -p out; echo ${name} > out/a.md; echo ${name} too > b.md`);
    const items = ['one', 'two'].map((id) => `${JSON.stringify({ id, prompt: prompt(id), get: 'b.md' })}\n`);
    await writeFile(join(cwd, 'items.jsonl'), items.join(''));
    const get = ['--get', 'out/a.md:deep/here.md'];
    await mkdir(join(cwd, 'alone'));
    const ran = await command(['run', prompt('run'), ...get], { cwd: join(cwd, 'alone') });
    expect(ran).toMatchObject({ exitCode: 0 });
    expect(await savedIn(join(cwd, 'alone'))).toEqual({ 'deep/here.md': 'run\n' });

    const { batchId } = address();
    const start = ['items.jsonl', '--source', sandboxId, '--id', batchId, ...get];
    const placed = {
      'one/b.md': 'one too\n',
      'one/deep/here.md': 'one\n',
      'two/b.md': 'two too\n',
      'two/deep/here.md': 'two\n',
    };
    const commands = {
      new: start,
      repeated: start,
      watched: ['watch', batchId, ...get],
      resumed: ['resume', batchId, ...get],
    };
    for (const [out, args] of Object.entries(commands)) {
      const done = await cli([...args, '--out', out], { cwd });
      expect({ out, ...done }).toMatchObject({ out, exitCode: 0, stdout: `${out}/results.jsonl\n` });
      expect(await savedIn(join(cwd, out, 'files')), out).toEqual(placed);
    }

    expect(await cli(['watch', batchId, '--out', 'plain'], { cwd })).toMatchObject({ exitCode: 0 });
    expect(Object.keys(await savedIn(join(cwd, 'plain', 'files')))).toContain('one/out/a.md');
    const sought = await cli(['watch', batchId, '--get', 'out/z.md:z.md', '--out', 'sought'], { cwd });
    expect(sought).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('no item collected out/z.md') });
  });
});

describe('a batch whose canary fails', () => {
  it('says that it is held, with the command that lets it go on, refuses changes, and ends after that command', async () => {
    const cwd = await temporaryDirectory();
    const lines = ['exit 3', 'true', 'true'].map((commands) => `${JSON.stringify({ prompt: script(commands) })}\n`);
    await writeFile(join(cwd, 'items.jsonl'), lines.join(''));
    const { batchId } = address();
    const start = ['items.jsonl', '--source', sandboxId, '--id', batchId, '--canary', '1'];
    expect(await cli([...start, '--detach'], { cwd })).toMatchObject({ exitCode: 0 });
    const progress = async () => JSON.parse((await cli(['show', batchId, '--json'], { cwd })).stdout);
    await expect.poll(progress).toMatchObject({
      held: { by: 'canary', outcome: 'prompt_failed', code: 'prompt_failed', count: 1 },
      counts: { failed: 1, queued: 2 },
      outcome: null,
    });
    const why = 'The canary failed (prompt_failed), so no further item starts.';
    const shown = await cli(['show', batchId], { cwd });
    expect(shown).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`blocked: ${why}`) });
    expect(shown.stderr).toContain(`fanout resume ${batchId}`);
    await cli(['report', batchId, '--out', 'page.html'], { cwd });
    expect(await readFile(join(cwd, 'page.html'), 'utf8')).toContain(why);

    for (const change of [['--breaker', '2'], ['--only', '1'], ['--no-retry-failed']]) {
      const refused = await cli(['resume', batchId, ...change, '--out', 'got'], { cwd });
      expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('is held and still runs') });
    }
    const resumed = await cli(['resume', batchId, '--out', 'got'], { cwd });
    expect(resumed).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(`Batch ${batchId} goes on.`) });
    expect(await progress()).toMatchObject({ outcome: 'partly_failed', counts: { completed: 2, failed: 1 } });
  });
});
