/** Batches whose items start from different sources. */
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ItemResult } from '../../../../src/protocol/fanout/fanout-result.js';
import { type CliHome, createCliHome } from '../../../e2e/cli/program.js';
import { shell } from '../../../e2e/stack/fixture.js';
import { readSource } from '../../../unit/house/source-imports.js';

interface Row {
  readonly instance_id: string;
  readonly repo: string;
  readonly base_commit: string;
}

describe('sandflow fanout with a source per item', () => {
  let cli: CliHome;
  let rows: readonly Row[] = [];
  beforeAll(async () => {
    cli = createCliHome();
    rows = await rowsOfExample(join(cli.home, 'repositories'));
  });
  afterAll(() => cli.close());

  const resultsOf = async (batch: string): Promise<ItemResult[]> => {
    const text = await readFile(join(cli.home, `fanout-${batch}/results.jsonl`), 'utf8');
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  };
  const sandboxes = async (): Promise<{ readonly id: string; readonly name: string; readonly state: string }[]> =>
    JSON.parse((await cli.run(['sandboxes', '--json'])).stdout).sandboxes;

  it('clones the repository of each row of SWE-bench once for each commit, and prints predictions', async () => {
    await writeFile(join(cli.home, 'rows.jsonl'), rows.map((row) => JSON.stringify(row)).join('\n'));
    const args = ['fanout', 'rows.jsonl', '--format', 'swe-bench', '--get-diff=app'];
    // A sandbox with a network of its own reaches no server of this machine.
    const mirror = ['--prepare-put', 'repositories/bare/:mirror', '--repository-url', './mirror/{{repo}}.git'];
    const { exitCode, stderr } = await cli.run([...args, ...mirror, '--id', 'swe', '--sources-at-once', '1']);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('3 completed') });
    const results = await resultsOf('swe');
    expect(results.map(({ itemId, labels }) => [itemId, labels.base_commit])).toEqual(
      rows.map(({ instance_id, base_commit }) => [instance_id, base_commit]),
    );
    const states = results.map(({ startsFrom }) => JSON.stringify(startsFrom));
    expect(states[0]).toBe(states[1]);
    expect(new Set(states).size).toBe(2);
    const { stdout } = await cli.run(['fanout', 'results', 'swe', '--format', 'predictions', '--model-name', 'm']);
    const patches = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).model_patch);
    expect(patches).toEqual([
      expect.stringContaining('+Hello World!'),
      expect.stringContaining('+MIT'),
      expect.stringContaining('README'),
    ]);
    // Every prepared source was ended after its last item.
    expect((await sandboxes()).filter(({ state }) => state !== 'archived')).toEqual([]);
  });

  it('forks a sandbox, and prepares what the items share; a resume keeps the sources', async () => {
    const begin = await cli.run(['run', shell('echo made > made.txt'), '--json']);
    const { sandboxId } = JSON.parse(begin.stdout);
    const made = { setup: 'echo built > built.txt' };
    const items = [
      { id: 'forked', source: sandboxId, prompt: shell('cat made.txt') },
      { id: 'built', ...made, prompt: shell('cat built.txt') },
      { id: 'plain', prompt: shell('ls made.txt built.txt 2>/dev/null; cat common.txt') },
      { id: 'again', ...made, prompt: shell('cat built.txt') },
    ];
    await writeFile(join(cli.home, 'items.jsonl'), items.map((item) => JSON.stringify(item)).join('\n'));
    const args = ['fanout', 'items.jsonl', '--command', 'echo common > common.txt', '--id', 'mixed'];
    const ended = await cli.run(args);
    expect(ended).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('4 completed') });
    const results = await resultsOf('mixed');
    expect(results.map(({ itemId }) => itemId)).toEqual(['forked', 'built', 'again', 'plain']);
    const answers = results.map(({ job }) => JSON.stringify(job?.prompts[0]?.result));
    expect(answers).toEqual([
      expect.stringContaining('made'),
      expect.stringContaining('built'),
      expect.stringContaining('built'),
      expect.stringContaining('common'),
    ]);
    expect(await cli.run(['fanout', 'resume', 'mixed', '--only', 'built'])).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('4 completed'),
    });
    const again = (await resultsOf('mixed')).find(({ itemId }) => itemId === 'built');
    expect(again).toMatchObject({ generation: 2, outcome: 'completed' });
    expect(JSON.stringify(again?.job?.prompts[0]?.result)).toContain('built');
  });
});

/** The rows of the example, over a repository of this machine: its first two rows have one commit. */
async function rowsOfExample(folder: string): Promise<readonly Row[]> {
  const example: Row[] = readSource('examples/swe-bench.jsonl')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const work = join(folder, 'work');
  await mkdir(work, { recursive: true });
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
      cwd: work,
      encoding: 'utf8',
    }).trim();
  git('init', '-q');
  const commits: string[] = [];
  for (const text of ['Hello', 'Hello World']) {
    await writeFile(join(work, 'README'), text);
    git('add', 'README');
    git('commit', '-qm', text);
    commits.push(git('rev-parse', 'HEAD'));
  }
  const repository = join(folder, `bare/${example[0]?.repo}.git`);
  git('clone', '-q', '--bare', work, repository);
  const [first = '', second = ''] = commits;
  return example.map((row, at) => ({ ...row, base_commit: at < 2 ? second : first }));
}
