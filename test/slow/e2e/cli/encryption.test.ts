import { randomBytes } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CliHome, createCliHome } from '../../../e2e/cli/program.js';

const shell = (script: string) => `\`\`\`sh\n${script}\n\`\`\``;

describe('the embedded stack with a key file', () => {
  const canary = `canary${randomBytes(8).toString('hex')}`;
  const answer = `answer${randomBytes(8).toString('hex')}`;
  let cli: CliHome;
  let env: Record<string, string>;
  beforeAll(async () => {
    cli = createCliHome();
    const { stdout, exitCode } = await cli.run(['encryption', 'new-key', '--id', 'first']);
    expect({ exitCode, stdout }).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^first:\S{44}\n$/) });
    const keys = join(cli.home, 'keys');
    await writeFile(keys, stdout, { mode: 0o600 });
    env = { SANDFLOW_ENCRYPTION_KEYS_FILE: keys };
  });
  afterAll(() => cli.close());

  it('runs a job, and no prompt, answer or file is in the database of Temporal, the results or a log', async () => {
    const reversed = [...answer].reverse().join('');
    const prompt = `${canary}\n${shell(`echo ${reversed} | rev | tee out.txt`)}`;
    const args = ['run', prompt, '--id', 'secret', '--get', 'out.txt:got.txt', '--setup', `echo ${canary}`, '--json'];
    const { exitCode, stdout, stderr } = await cli.run(args, env);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(stdout)).toMatchObject({
      outcome: 'completed',
      prompts: [{ result: expect.stringContaining(answer) }],
    });
    expect(await readFile(join(cli.home, 'got.txt'), 'utf8')).toBe(`${answer}\n`);
    const { stdout: listed } = await cli.run(['jobs', 'list', '--json'], env);
    expect(listed).toContain(canary);

    const looked = await searchHome(canary, answer);
    expect(looked).toEqual(expect.arrayContaining(['temporal.db', 'logs/worker.log']));
    expect(looked.some((path) => path.startsWith('results/'))).toBe(true);
    expect((await stat(join(cli.home, 'temporal.db'))).size).toBeGreaterThan(10_000);
  });

  it('runs a batch, and nothing of its items is unencrypted', async () => {
    const item = `item${randomBytes(8).toString('hex')}`;
    await writeFile(
      join(cli.home, 'items.jsonl'),
      `${JSON.stringify(`${item}\n${shell(`echo ${item} > out.txt`)}`)}\n`,
    );
    const args = ['fanout', 'items.jsonl', '--id', 'hidden', '--command', `echo ${item}`, '--get', 'out.txt', '--json'];
    const { exitCode, stdout, stderr } = await cli.run(args, env);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    const { resultsFile } = JSON.parse(stdout);
    expect(await readFile(join(cli.home, resultsFile), 'utf8')).toContain('"outcome":"completed"');
    const report = await cli.run(['fanout', 'report', 'hidden', '--out', 'fanout-hidden/again.html'], env);
    expect(report.exitCode).toBe(0);
    expect(await readFile(join(cli.home, 'fanout-hidden/again.html'), 'utf8')).toContain(item);
    expect(await searchHome(item)).toEqual(expect.arrayContaining(['temporal.db']));
  });

  it('shows the ids of the keys, and refuses other keys or none', async () => {
    const { stdout } = await cli.run(['doctor'], env);
    expect(stdout).toContain('This machine encrypts with "first" and reads "first"; the workers of ');
    const other = join(cli.home, 'other-keys');
    await writeFile(other, (await cli.run(['encryption', 'new-key', '--id', 'first'])).stdout, { mode: 0o600 });
    const refused = await cli.run(['jobs', 'list', '--json'], { SANDFLOW_ENCRYPTION_KEYS_FILE: other });
    expect(refused.exitCode).not.toBe(0);
    const readable = join(cli.home, 'readable-keys');
    await writeFile(readable, 'x', { mode: 0o644 });
    const open = await cli.run(['jobs', 'list', '--json'], { SANDFLOW_ENCRYPTION_KEYS_FILE: readable });
    expect(open).toMatchObject({ exitCode: 2, stdout: expect.stringContaining('file_not_trusted') });
  });

  /** @returns what was searched: everything that Temporal, the worker and the bridge have written */
  async function searchHome(...texts: string[]): Promise<string[]> {
    const searched: string[] = [];
    for (const entry of await readdir(cli.home, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name).slice(cli.home.length + 1);
      // Inputs and downloads are unencrypted, and the data of the service is not Temporal's.
      const isHere = path === 'got.txt' || path === 'items.jsonl' || path.startsWith('fanout-hidden/');
      if (!entry.isFile() || isHere || path.startsWith('local-service/')) continue;
      const content = await readFile(join(cli.home, path)).catch(() => Buffer.alloc(0));
      for (const text of texts) expect(content.includes(text), `${text} in ${path}`).toBe(false);
      searched.push(path);
    }
    return searched;
  }
});
