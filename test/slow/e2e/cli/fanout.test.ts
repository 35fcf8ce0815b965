import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ItemResult } from '../../../../src/protocol/fanout/fanout-result.js';
import { type CliHome, createCliHome } from '../../../e2e/cli/program.js';
import { shell } from '../../../e2e/stack/fixture.js';

const example = (name: string) => fileURLToPath(new URL(`../../../../examples/${name}`, import.meta.url));

describe('sandflow fanout without configuration', () => {
  let cli: CliHome;
  beforeAll(() => {
    cli = createCliHome();
  });
  afterAll(() => cli.close());

  const itemsOf = (jsonl: string): ItemResult[] =>
    jsonl
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));

  let source = '';
  it('runs the example and writes answers, files and report of every item, each from a fork of the prepared source', async () => {
    const args = ['fanout', example('fanout.csv'), '--prompt', `@${example('fanout.md')}`, '--id', 'greet', '--json'];
    const { exitCode, stdout, stderr } = await cli.run([
      ...args,
      ...['--command', 'uname > words.txt', '--get', 'greeting.txt'],
    ]);
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(/completed · batch greet · 6 items in .*\n {2}6 completed\n/),
    });
    const { resultsFile, sourceSandboxId } = JSON.parse(stdout);
    source = sourceSandboxId;
    const items = itemsOf(await readFile(join(cli.home, resultsFile), 'utf8'));
    expect(items.map(({ itemId }) => itemId)).toEqual(['en', 'de', 'fr', 'es', 'it', 'ja']);
    expect(new Set(items.map(({ job }) => job?.sandboxId)).size).toBe(6);
    expect(items[3]?.job?.prompts[0]?.result).toContain('¡Buenos días, y bienvenida! Inés');
    const greeting = await readFile(join(cli.home, 'fanout-greet/files/ja/greeting.txt'), 'utf8');
    expect(greeting).toBe('Linux\nこんにちは 花子\n');
    expect(await readFile(join(cli.home, 'fanout-greet/report.html'), 'utf8')).toContain('Grete');
    expect(await cli.run(['fanout', 'report', 'greet'])).toMatchObject({ stdout: 'fanout-greet/report.html\n' });
    const link = '<a href="files/ja/greeting.txt"';
    expect(await readFile(join(cli.home, 'fanout-greet/report.html'), 'utf8')).toContain(link);
    expect(await cli.run(['fanout', 'report', 'greet', '--out', 'greet.html'])).toMatchObject({ exitCode: 0 });
    expect(await readFile(join(cli.home, 'greet.html'), 'utf8')).not.toContain(link);
  });

  it('prints the transcript of an item', async () => {
    const { exitCode, stdout } = await cli.run(['fanout', 'logs', 'greet', 'ja', '--json']);
    const kinds = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).kind);
    expect({ exitCode, kinds }).toMatchObject({
      exitCode: 0,
      kinds: expect.arrayContaining(['prompt', 'command', 'ended']),
    });
    expect(stdout).toContain('花子');
    expect(await cli.run(['fanout', 'logs', 'greet', 'nobody'])).toMatchObject({ exitCode: 2 });
  });

  it('resumes the batch and finds nothing left to do', async () => {
    const { exitCode, stdout, stderr } = await cli.run(['fanout', 'resume', 'greet']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'fanout-greet/results.jsonl\n' });
    expect(stderr).toContain('Nothing left to run in greet: every item has completed.');
    expect(stderr).toContain('6 completed');
  });

  it('--get-diff saves one patch of each fork, which applies to the prepared repository, and says if nothing changed', async () => {
    const who = 'git config user.name a && git config user.email a@example.com';
    const date = "GIT_AUTHOR_DATE='@0 +0000' GIT_COMMITTER_DATE='@0 +0000'";
    const begin = `git init -q app && cd app && ${who} && echo one >one.txt && git add -A && ${date} git commit -q -m base`;
    const items = [
      { id: 'edits', prompt: shell('cd app; echo two >>one.txt; echo new >new.txt') },
      { id: 'commits', prompt: shell('cd app; git rm -q one.txt; git commit -q -m gone') },
      { id: 'rests', prompt: shell('echo nothing') },
      { id: 'elsewhere', prompt: shell('echo nothing'), getDiff: 'nowhere' },
    ];
    await writeFile(join(cli.home, 'diffs.jsonl'), items.map((item) => `${JSON.stringify(item)}\n`).join(''));
    const args = ['fanout', 'diffs.jsonl', '--command', begin, '--get-diff=app', '--id', 'diffs', '--json'];
    const { exitCode, stdout, stderr } = await cli.run(args);
    expect({ exitCode, stderr }, 'one item has no repository').toMatchObject({ exitCode: 1 });
    expect(JSON.parse(stdout)).toMatchObject({ outcome: 'completed' });
    const results = itemsOf(await readFile(join(cli.home, 'fanout-diffs/results.jsonl'), 'utf8'));
    expect(results.map(({ job }) => job?.files.map(({ path, diff }) => [path, diff?.outcome]))).toEqual([
      [['changes.patch', 'changes']],
      [['changes.patch', 'changes']],
      [['changes.patch', 'no_changes']],
      [['changes.patch', 'not_a_repository']],
    ]);
    const git = (...words: string[]) => execFileSync('git', words, { cwd: join(cli.home, 'app'), encoding: 'utf8' });
    execFileSync('/bin/sh', ['-c', begin], { cwd: cli.home });
    expect(git('rev-parse', 'HEAD').trim()).toBe(results[0]?.job?.files[0]?.diff?.base);
    git('apply', '../fanout-diffs/files/edits/changes.patch');
    expect(git('status', '--porcelain')).toBe(' M one.txt\n?? new.txt\n');
    expect(await readFile(join(cli.home, 'app/one.txt'), 'utf8')).toBe('one\ntwo\n');
    git('stash', '-q', '--include-untracked');
    git('apply', '../fanout-diffs/files/commits/changes.patch');
    expect(git('status', '--porcelain')).toBe(' D one.txt\n');
    expect(await readFile(join(cli.home, 'fanout-diffs/files/rests/changes.patch'), 'utf8')).toBe('');
    expect(existsSync(join(cli.home, 'fanout-diffs/files/elsewhere/changes.patch'))).toBe(false);
  });

  it('--get-diff takes no file of items for its folder, as in run, and starts nothing', async () => {
    for (const args of [
      ['fanout', '--get-diff', 'diffs.jsonl'],
      ['run', '--get-diff', 'Fix the test'],
    ]) {
      expect(await cli.run(args)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('Write --get-diff=') });
    }
    expect((await cli.run(['jobs', 'list', '--json'])).stdout).toContain('"jobs":[]');
  });

  it('detaches from a batch at Ctrl-C, says how to return, and cancels it on request', async () => {
    await writeFile(join(cli.home, 'long.jsonl'), `${JSON.stringify('```sh\nwhile true; do sleep 0.2; done\n```')}\n`);
    const watched = cli.start(['fanout', 'long.jsonl', '--source', source, '--id', 'long', '--end', 'delete']);
    await expect.poll(watched.stderr, { timeout: 60_000 }).toContain('1 running');
    watched.process.kill('SIGINT');
    expect(await watched.ended).toMatchObject({
      exitCode: 130,
      stderr: expect.stringContaining('sandflow fanout watch long'),
    });
    expect(await cli.run(['fanout', 'cancel', 'long', '--wait', '--json'])).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('"outcome":"cancelled"'),
    });
    expect(await cli.run(['fanout', 'cancel', 'long'])).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('Batch long had already ended: cancelled.'),
    });
  });
});
