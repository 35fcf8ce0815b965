/** What commands say about the isolation of sandboxes, and when, against the whole product. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { usableIsolations } from '../../../local-service/test/service/machine/machine-fixture.js';
import { type CliOutcome, cli as runCli } from '../../unit/cli/in-process.js';
import { createStand, deployment, type Stand, type StandOptions, script } from '../../workflows/workflow-harness.js';

interface Asked extends CliOutcome {
  /** How many prompts the service had when the warning was written; undefined if there was no warning. */
  readonly promptsBefore: number | undefined;
}

async function standWith(service: StandOptions['service']) {
  const stand = await createStand({ service });
  const cwd = await mkdtemp(join(tmpdir(), 'sandflow-isolation-'));
  onTestFinished(async () => {
    await stand.close();
    await rm(cwd, { recursive: true, force: true });
  });
  const cli = async (args: readonly string[], warning: string): Promise<Asked> => {
    let promptsBefore: number | undefined;
    const outcome = await runCli(args, {
      cwd,
      env: {
        TEMPORAL_ADDRESS: inject('temporalAddress'),
        SANDBOX_API_URL: stand.service.url,
        SANDBOX_API_KEY: 'test-key',
        SANDFLOW_DEPLOYMENT: deployment,
        SANDFLOW_TASK_QUEUE: stand.taskQueue,
        SANDFLOW_RESULTS: stand.resultsDirectory,
      },
      onStderr: (text) => {
        if (promptsBefore === undefined && text.includes(warning)) promptsBefore = promptsOf(stand);
      },
    });
    return { ...outcome, promptsBefore };
  };
  return { stand, cwd, cli };
}

const promptsOf = (stand: Stand) => stand.service.books.prompts().length;
const id = () => `i${Math.random().toString(36).slice(2, 10)}`;

describe('sandboxes that are not isolated', () => {
  const warning = 'Sandboxes are NOT isolated';

  it('are reported by run and rerun before the first prompt, even if quiet, and in --json', async () => {
    const { stand, cli } = await standWith({ isolation: 'plain' });
    const jobId = id();
    const run = ['run', script('echo one'), '--id', jobId, '--quiet', '--json', '--end', 'delete'];
    for (const args of [run, ['jobs', 'rerun', jobId, '--quiet', '--json']]) {
      const before = promptsOf(stand);
      const { exitCode, stdout, stderr, promptsBefore } = await cli(args, warning);
      expect(exitCode, stderr).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({
        isolation: { isolation: 'plain', network: { kind: 'host' }, warnings: [expect.stringContaining(warning)] },
      });
      expect(promptsBefore, stderr).toBe(before);
    }
    const { stderr } = await cli(['run', script('echo two'), '--detach', '--end', 'delete'], warning);
    expect(stderr).toMatch(/Sandbox isolation: none: .*Sandboxes are NOT isolated.*Job \S+ started/s);
  });

  it('are reported by fanout before the first prompt, by its resume, and in --json', async () => {
    const { stand, cwd, cli } = await standWith({ isolation: 'plain' });
    await writeFile(join(cwd, 'items.jsonl'), JSON.stringify({ id: 'a', prompt: script('test -f ~/fixed') }));
    const batch = ['items.jsonl', '--id', id(), '--command', ':', '--retries', '0', '--json'];
    const first = await cli(['fanout', ...batch], warning);
    expect(JSON.parse(first.stdout)).toMatchObject({ isolation: { isolation: 'plain' }, counts: { failed: 1 } });
    expect(first.promptsBefore, first.stderr).toBe(0);
    const before = promptsOf(stand);
    const again = await cli(['fanout', 'resume', batch[2] ?? '', '--json'], warning);
    expect(JSON.parse(again.stdout)).toMatchObject({ isolation: { isolation: 'plain' } });
    expect(again.promptsBefore, again.stderr).toBe(before);
  });

  it('are a warning of doctor', async () => {
    const { cli } = await standWith({ isolation: 'plain' });
    const { stdout } = await cli(['doctor', '--json'], warning);
    const { checks } = JSON.parse(stdout) as { checks: readonly { name: string }[] };
    expect(checks.find(({ name }) => name === 'isolation')).toMatchObject({
      status: 'warning',
      message: expect.stringMatching(/^none: /),
    });
  });
});

describe.skipIf(!usableIsolations.includes('bubblewrap'))('a command agent without network', () => {
  it('is warned of before its first prompt', async () => {
    const commandAgents = { codex: { command: 'cat >/dev/null; echo answered' } };
    const { cli } = await standWith({ isolation: 'bubblewrap', network: { internet: false }, commandAgents });
    const { exitCode, stdout, stderr, promptsBefore } = await cli(
      ['run', 'hello', '--json', '--end', 'delete'],
      'The command agents codex have no network',
    );
    expect(promptsBefore, stderr).toBe(0);
    expect(exitCode, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      isolation: { isolation: 'bubblewrap', network: { kind: 'none' } },
      prompts: [{ result: expect.stringContaining('answered') }],
    });
  });
});
