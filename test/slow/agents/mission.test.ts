/** What people use all this for: an agent looks at a repository, and forks of its sandbox then change it, each in its own way. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ItemResult } from '../../../src/protocol/fanout/fanout-result.js';
import { type CliHome, createCliHome } from '../../e2e/cli/program.js';
import { type ModelServer, startModelServer } from './model-server.js';
import { type ProgramName, programFolder, settingsFor, wirings } from './programs.js';

let cli: CliHome;
let model: ModelServer;
beforeEach(async () => {
  cli = createCliHome();
  model = await startModelServer();
});
afterEach(async () => {
  model.close();
  await cli.close();
});

async function run(...args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await cli.run(args);
  expect({ args, exitCode, stderr }).toMatchObject({ exitCode: 0 });
  return stdout;
}

async function api<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
  if (body === undefined) return JSON.parse(await run('api', method, path));
  await writeFile(join(cli.home, 'body.json'), JSON.stringify(body));
  return JSON.parse(await run('api', method, path, '--body', 'body.json'));
}

/** A repository with one commit, as a host of repositories holds it. */
async function bareRepository(): Promise<string> {
  const [work, bare] = [join(cli.home, 'work'), join(cli.home, 'website.git')];
  await mkdir(work);
  await writeFile(join(work, 'index.html'), '<h1>Welcome</h1>\n');
  const git = (...args: readonly string[]) => execFileSync('git', ['-C', work, ...args], { stdio: 'pipe' });
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-q', '-m', 'begin');
  git('clone', '-q', '--bare', work, bare);
  return bare;
}

async function configure(name: ProgramName, folder: string): Promise<void> {
  const repository = { id: 1, fullName: 'acme/website', pushedAt: '2026-01-01T00:00:00Z', baseBranch: 'main' };
  const repos = [{ ...repository, cloneUrl: await bareRepository() }];
  const settings = { ...settingsFor(name, folder, model), repos, defaultProvider: name };
  await writeFile(join(cli.home, 'local-service.json'), JSON.stringify(settings));
  await run('up');
  const { login, environment } = wirings[name];
  await api('POST', '/secrets', { set: { [login]: 'sk-scripted' } });
  const [listed] = (await api<{ readonly environments: readonly { readonly id: string }[] }>('GET', '/environments'))
    .environments;
  const [cloned] = (await api<{ readonly repos: readonly { readonly databaseId: string }[] }>('GET', '/repos')).repos;
  const repositories = [{ repositoryId: cloned?.databaseId }];
  await api('PUT', `/environments/${listed?.id}`, { ...environment(model), repositories });
}

it.for([
  ['claude-code', 20],
  ['codex', 3],
  ['opencode', 3],
] as const)(
  '%s looks at a repository, and changes it in %i forks, each of which remembers the look',
  { timeout: 1_800_000 },
  async ([name, count], context) => {
    const folder = await programFolder(name);
    if (typeof folder !== 'string') return context.skip(folder.missing);
    await configure(name, folder);

    const look = 'cat website/index.html';
    const job = JSON.parse(await run('run', `Run: ${look}`, '--id', 'look', '--json'));
    const [{ result, conversationId }] = job.prompts;
    expect(result).toContain('Welcome');
    const logs = await run('jobs', 'logs', 'look');
    expect(logs).toContain(`| $ ${look}\n`);
    expect(logs).toMatch(/tokens.*: 22 in, 14 out\n/);

    const items = Array.from({ length: count }, (_, index) => ({
      id: `change-${index}`,
      prompt: `Run: echo "<p>${index}</p>" >> website/index.html; tail -1 website/index.html`,
    }));
    await writeFile(join(cli.home, 'items.jsonl'), items.map((item) => `${JSON.stringify(item)}\n`).join(''));
    const from = ['--source', job.sandboxId, '--conversation', conversationId, '--get-diff=website'];
    const { resultsFile } = JSON.parse(await run('fanout', 'items.jsonl', ...from, '--id', 'mission', '--json'));
    const results = (await readFile(join(cli.home, resultsFile), 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line): ItemResult => JSON.parse(line));
    expect(results).toHaveLength(count);
    for (const [index, { itemId, job: of }] of results.entries()) {
      expect(of?.outcome, itemId).toBe('completed');
      expect(of?.prompts[0]?.result).toContain(`<p>${index}</p>\nEarlier: ${look}`);
      const patch = await readFile(join(cli.home, `fanout-mission/files/${itemId}/changes.patch`), 'utf8');
      expect(patch).toContain(`+<p>${index}</p>\n`);
    }
    expect(existsSync(join(cli.home, 'fanout-mission/report.html'))).toBe(true);

    const followed = JSON.parse(await run('continue', 'look', 'Run: tail -1 website/index.html', '--json'));
    expect(followed.prompts[0].result).toMatch(/<h1>Welcome<\/h1>\nEarlier: cat website\/index.html$/);
  },
);
