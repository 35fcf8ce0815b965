import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ItemResult } from '../../../workflows/fanout/result.js';
import { type CliHome, createCliHome } from './program.js';

const example = (name: string) => fileURLToPath(new URL(`../../../examples/${name}`, import.meta.url));

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

  it('detaches from a batch at Ctrl-C, says how to return, and cancels it on request', async () => {
    await writeFile(join(cli.home, 'long.jsonl'), `${JSON.stringify('```sh\nwhile true; do sleep 0.2; done\n```')}\n`);
    const watched = cli.start(['fanout', 'long.jsonl', '--source', source, '--id', 'long', '--then', 'delete']);
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
    expect(await cli.run(['fanout', 'cancel', 'long']), 'U20').toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('Batch long had already ended: cancelled.'),
    });
  });
});
