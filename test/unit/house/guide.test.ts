import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { readLocalConfig } from '../../../local-service/src/program/settings-file.js';
import { exitCodes } from '../../../src/cli/exit-codes.js';
import { emptyReport } from '../../../src/cli/output/job-report.js';
import { readConfig } from '../../../src/config.js';
import type { PreservedWork } from '../../../src/contract/workflow-safe/preserved-work.js';
import { sandboxEventTypes } from '../../../src/contract/workflow-safe/states.js';
import type { JobOutcome } from '../../../src/protocol/job/job-result.js';
import type { Notification } from '../../../src/protocol/notification.js';
import { defaultTiming } from '../../../workflows/shared/wait-intervals.js';
import { commandNames, grammarProblems } from './cli-grammar.js';
import { readSource, repository } from './source-imports.js';

/** The README, the skill, the tour and the task pages, which describe commands and settings. */
const guide = [
  'README.md',
  'SKILL.md',
  ...[
    'tour',
    'run',
    'fan-out',
    'stop',
    'clean-up',
    'schedules',
    'notifications',
    'encryption',
    'production',
    'local-service',
    'agents',
    'configuration',
    'cost',
    'troubleshooting',
  ].map((name) => `docs/${name}.md`),
]
  .map(readSource)
  .join('\n');
const directories: string[] = [];
afterEach(async () => {
  for (const directory of directories.splice(0)) await rm(directory, { recursive: true });
});

/** The words after `sandflow` in shell blocks and inline code. */
function invocations(): string[][] {
  const lines = [...guide.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block = '']) => block.split('\n'));
  const inline = [...guide.matchAll(/`(sandflow [^`]+)`/g)].map(([, code = '']) => code);
  return [...lines, ...inline]
    .flatMap((line) => line.split(/ && | \| /))
    .map((command) => /^(?:npx )?sandflow (.*)$/.exec(command.trim())?.[1])
    .filter((rest) => rest !== undefined)
    .map((rest) => [...rest.matchAll(/"[^"]*"|\S+/g)].map(([word]) => word));
}

/** Cells of the first column of the table under a heading of a page, without code marks. */
function firstColumn(page: string, heading: string): string[] {
  const section = readSource(page).split(`${heading}\n`)[1]?.split(/\n#+ /)[0] ?? '';
  return [...section.matchAll(/^\| (`?\w[^|]*?) \|/gm)]
    .flatMap(([, cell = '']) => cell.replaceAll('`', '').split(', '))
    .filter((cell) => cell !== 'Code' && cell !== 'Variable' && cell !== 'Outcome');
}

describe('commands', () => {
  test.each(invocations().map((words) => [words.join(' '), words] as const))('sandflow %s exists', (_, words) => {
    expect(grammarProblems(words)).toEqual([]);
  });

  test('are checked: an unknown command, option and choice are found', () => {
    expect(grammarProblems(['go'])).not.toEqual([]);
    expect(grammarProblems(['run', 'x', '--fast'])).not.toEqual([]);
    expect(grammarProblems(['run', 'x', '--end', 'burn'])).not.toEqual([]);
  });

  test('have every option that the text names', () => {
    const named = [...guide.matchAll(/`(--[a-z-]+)(?: ([a-z]+))?`/g)].map(
      ([, flag = '', value]) => [flag, value] as const,
    );
    const problems = named.filter(([flag, value]) => {
      const words = value === undefined ? [flag] : [flag, value];
      return commandNames().every((name) => grammarProblems([...name.split(' '), ...words]).length > 0);
    });
    expect(problems).toEqual([]);
    expect(named.length).toBeGreaterThan(5);
  });

  test('are all shown or named', () => {
    const shown = invocations().map((words) => words.join(' '));
    const missing = commandNames().filter(
      (name) => !shown.some((line) => line.startsWith(name)) && !guide.includes(`\`${name}\``),
    );
    expect(missing).toEqual([]);
  });
});

describe('settings', () => {
  const named = firstColumn('docs/configuration.md', '## Settings');

  test('in the table are those that the configuration reads', () => {
    const read = [...readSource('src/config.ts').matchAll(/\benv(?:\.|, ')((?:SANDBOX|SANDFLOW)_\w+)/g)].map(
      ([, name]) => name,
    );
    expect(named.filter((name) => !name.startsWith('TEMPORAL_')).sort()).toEqual([...new Set(read)].sort());
  });

  test('of Temporal are read by its own environment configuration', () => {
    const ofTemporal = named.filter((name) => name.startsWith('TEMPORAL_'));
    const source = ['envconfig.js', 'envconfig-toml.js']
      .map((file) => readSource(`node_modules/@temporalio/envconfig/lib/${file}`))
      .join('');
    expect(ofTemporal.filter((name) => !source.includes(name))).toEqual([]);
    expect(ofTemporal).toContain('TEMPORAL_ADDRESS');
  });

  test('have the defaults of the table', () => {
    const config = readConfig({
      HOME: '/home/a',
      TEMPORAL_ADDRESS: 'localhost:7233',
      XDG_STATE_HOME: '/s',
      XDG_CACHE_HOME: '/c',
    });
    const { taskQueue, deployment, home, cacheDirectory, webhookSecretFile } = config;
    expect({ taskQueue, deployment, home, cacheDirectory, webhookSecretFile }).toEqual({
      taskQueue: 'sandflow',
      deployment: 'default',
      home: '/s/sandflow',
      cacheDirectory: '/c/sandflow',
      webhookSecretFile: '/s/sandflow/webhook-secrets',
    });
  });

  test('include valid examples of command agents, and a program, as they are in examples/agent', async () => {
    const page = readSource('docs/agents.md');
    const [ofPrograms = '', example = ''] = [...page.matchAll(/```json\n(.*?)```/gs)].map(([, json]) => json ?? '');
    expect(example).toBe(readSource('examples/agent/local-service.json'));
    expect(/```sh\n(#!.*?)```/s.exec(page)?.[1]).toBe(readSource('examples/agent/agent.sh'));
    const directory = await mkdtemp(join(tmpdir(), 'sandflow-guide-'));
    directories.push(directory);
    const read = async (settings: string) => {
      await writeFile(join(directory, 'local-service.json'), settings);
      return await readLocalConfig({ path: join(directory, 'local-service.json'), optional: false });
    };
    expect((await read(example)).commandAgents).toEqual({ 'claude-code': { command: 'sh agent.sh' } });
    expect((await read(ofPrograms)).commandAgents?.['claude-code']?.output).toBe('claude-code');
  });
});

describe('results', () => {
  test.each([
    ['docs/configuration.md', '## Exit codes'],
    ['SKILL.md', '## What to look at'],
  ])('%s has the exit codes of the command line', (page, heading) => {
    const listed = firstColumn(page, heading).filter((cell) => cell !== 'Exit code');
    expect(listed.map(Number)).toEqual(Object.values(exitCodes).sort((a, b) => a - b));
  });

  test('have the outcomes of a job', () => {
    const outcomes: Record<JobOutcome, true> = {
      completed: true,
      unverified: true,
      prompt_failed: true,
      sandbox_failed: true,
      sandbox_cancelled: true,
      rejected: true,
      deadline_exceeded: true,
      cancelled: true,
      outcome_unknown: true,
    };
    expect(firstColumn('docs/run.md', '## Outcomes')).toEqual(Object.keys(outcomes));
  });

  test('have the fields of the report with --json', () => {
    const sentence = /The object of `--json` has (.*?)\. /s.exec(guide)?.[1] ?? '';
    const listed = [...sentence.matchAll(/`(\w+)`/g)].map(([, name]) => name);
    expect(listed.sort()).toEqual(Object.keys(emptyReport(null, null)).sort());
    const kept: Record<PreservedWork, true> = { saved: true, stale: true, none: true };
    for (const word of Object.keys(kept)) expect(guide).toContain(`\`${word}\``);
  });

  test('are notified with the listed fields', () => {
    const fields: Record<keyof Notification, true> = {
      id: true,
      event: true,
      jobId: true,
      workflowId: true,
      workflowType: true,
      sandboxId: true,
      outcome: true,
      message: true,
      at: true,
    };
    const sentence = /JSON with (.*?)\. `event`/s.exec(guide)?.[1] ?? '';
    expect(Object.keys(fields).filter((name) => !sentence.includes(`\`${name}\``))).toEqual([]);
  });

  test('arrive with the listed events and slow polls', () => {
    for (const type of sandboxEventTypes) expect(guide).toContain(`\`${type}\``);
    const { safetyPollFirstMs, safetyPollGrowth, safetyPollMaxMs } = defaultTiming;
    expect([safetyPollFirstMs, safetyPollGrowth, safetyPollMaxMs]).toEqual([5_000, 2, 300_000]);
    expect(readSource('activities/prompt/follow-hub.ts')).toContain('minIntervalMs = 500, maxIntervalMs = 10_000');
  });
});

test('the snippets of the README and the library page are the type-checked files', () => {
  expect(() => execFileSync(process.execPath, [join(repository, 'scripts', 'snippets.mjs'), '--check'])).not.toThrow();
});
