/** `sandflow cleanup` against the whole product. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createResultStore } from '../../../src/result-store/index.js';
import { type InProcessOptions, cli as runCli } from '../../unit/cli/in-process.js';
import { createStand, type Stand } from '../workflow-harness.js';
import { archived, ready, stateOf } from './cleanup-harness.js';

let stand: Stand;
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'sandflow-cleanup-'));
  stand = await createStand({ worker: { results: createResultStore(join(home, 'results')) } });
});
afterAll(async () => {
  await stand.close();
  await rm(home, { recursive: true });
});

const cli = (args: readonly string[], options: InProcessOptions = {}) =>
  runCli(['cleanup', ...args], {
    ...options,
    cwd: home,
    env: {
      SANDBOX_API_URL: stand.service.url,
      SANDBOX_API_KEY: 'test-key',
      TEMPORAL_ADDRESS: inject('temporalAddress'),
      SANDFLOW_TASK_QUEUE: stand.taskQueue,
      // A separate schedule, since all test files of a run share the server.
      SANDFLOW_DEPLOYMENT: stand.taskQueue.replaceAll('-', '').slice(0, 12),
      SANDFLOW_HOME: home,
    },
  });

async function policyFile(name: string, rest = ''): Promise<string> {
  const rules = `rules:\n  - rule: old\n    match: {name: "${name}-*"}\n    action: delete-sandbox\n`;
  await writeFile(join(home, `${name}.yaml`), `name: ${name}\nlimits: {maxPercent: 100}\n${rest}${rules}`);
  return `${name}.yaml`;
}

describe('sandflow cleanup', () => {
  it('tells by name a limit that lets nothing act, and patterns that match nothing', async () => {
    const policy = await policyFile('tiny', 'protect: [nobody-*]\n');
    const old = await archived(stand, 'tiny-old');
    const text = await readFile(join(home, policy), 'utf8');
    await writeFile(join(home, policy), text.replace('maxPercent: 100', 'maxPercent: 1'));
    for (const [command, outcome] of [
      ['plan', 'planned'],
      ['run', 'applied'],
    ] as const) {
      const { exitCode, stderr } = await cli([command, policy]);
      expect({ exitCode, stderr }).toMatchObject({
        exitCode: 1,
        stderr: expect.stringMatching(
          /needs attention: limits\.maxPercent is 1, which is less than one of \d+ sandbox/,
        ),
      });
      expect(stderr).toContain(`tiny: ${outcome} · 0 due of`);
      expect(stderr).toContain('1 pattern of the policy matches nothing now: nobody-* (protect).');
    }
    await writeFile(join(home, policy), text);
    for (const [command, said] of [
      ['plan', 'A run would do nothing now'],
      ['run', 'Nothing was done'],
    ]) {
      const { exitCode, stderr } = await cli([command ?? '', policy]);
      expect(stderr).toContain(`${said}: it would delete, although "nobody-*" of protect matches nothing; correct`);
      expect(exitCode).toBe(command === 'run' ? 1 : 0);
    }
    expect(await stateOf(stand, old)).toBe('archived');
    await writeFile(join(home, policy), `protectMayMatchNothing: true\n${text}`);
    expect((await cli(['run', policy])).stderr).toContain('tiny: applied · 1 due of');
  });

  it('plans, runs, and shows the report of the last run again', async () => {
    const policy = await policyFile('shown');
    const old = await archived(stand, 'shown-old');
    const mine = await ready(stand, 'mine');
    const plan = await cli(['plan', policy]);
    expect(plan).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('shown: planned · 1 due of') });
    expect(plan.stdout).toMatch(new RegExp(`${old}  shown-old +archived .* none +saved +old +delete-sandbox\n`));
    // What is due, and the rest as counts.
    expect(plan.stdout).not.toContain(mine);
    expect(plan.stdout).toMatch(/\n\d+ sandbox(?:es)? skipped \(list them with --all\):\n {2}\d+ {2}no rule matches\n/);
    const all = await cli(['plan', policy, '--all']);
    expect(all.stdout).toMatch(new RegExp(`${mine} .* skipped: no rule matches\n`));
    expect(await stateOf(stand, old)).toBe('archived');

    const run = await cli(['run', policy]);
    expect(run).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('shown: applied · 1 due of') });
    expect(run.stdout).toMatch(new RegExp(`${old} .* deleted\n`));
    expect(await stateOf(stand, old)).toBe('gone');

    const report = await cli(['report', '--json']);
    expect(JSON.parse(report.stdout)).toMatchObject({
      id: expect.stringMatching(/^shown-/),
      summary: { outcome: 'applied', counts: { deleted: 1 } },
      plan: { entries: expect.arrayContaining([expect.objectContaining({ sandboxId: old, rule: 'old' })]) },
    });
    expect(await cli(['report', 'unheard-of'])).toMatchObject({ exitCode: 2 });
  });

  it('returns at once with --detach, and continues', async () => {
    const old = await archived(stand, 'detached-old');
    const { exitCode, stdout } = await cli(['run', await policyFile('detached'), '--detach']);
    expect(exitCode).toBe(0);
    await expect.poll(() => stateOf(stand, old)).toBe('gone');
    await expect.poll(async () => (await cli(['report', stdout.trim()])).exitCode).toBe(0);
  });

  it('does nothing outside its window and exits with 1, unless it ignores the window', async () => {
    const hour = new Date(Date.now() + 3 * 3_600_000).getUTCHours();
    const at = String(hour).padStart(2, '0');
    const policy = await policyFile('windowed', `windows: [{between: "${at}:00 and ${at}:30"}]\n`);
    const old = await archived(stand, 'windowed-old');
    const run = await cli(['run', policy]);
    expect(run).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('Nothing was done: cleanups may act') });
    expect(run.stderr).toContain('--ignore-window acts at any time.');
    expect(await stateOf(stand, old)).toBe('archived');
    expect((await cli(['plan', policy])).stderr).toContain('A run would do nothing now: cleanups may act');

    const now = await cli(['run', policy, '--ignore-window']);
    expect(now).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('windowed: applied · 1 due of') });
    expect(await stateOf(stand, old)).toBe('gone');
  });

  it('validates a policy, and refuses an invalid one before anything starts', async () => {
    const readConfig = () => Promise.reject(new Error('nothing may be configured'));
    await writeFile(join(home, 'bad.yaml'), 'rules:\n  - rule: a\n    action: burn\n');
    expect(await cli(['validate', 'bad.yaml'], { readConfig })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('bad.yaml:3: rules[0].action'),
    });
    expect(await cli(['validate', await policyFile('good')], { readConfig })).toMatchObject({
      exitCode: 0,
      stdout: 'good: 1 rule, 0 protected patterns, at most 100 actions and 100 % per night, at any time\n',
    });
    expect(await cli(['run', 'none.yaml'], { readConfig })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('cannot be read'),
    });
  });
});

it('a plan names a moved clock of the local service, because ages are those of the worker', async () => {
  const policy = await policyFile('aged');
  const text = await readFile(join(home, policy), 'utf8');
  await writeFile(join(home, policy), text.replace('"aged-*"', '"aged-*", olderThan: 30d'));
  const old = await archived(stand, 'aged-old');
  await stand.service.clock.advance(40 * 86_400_000);
  const plan = await cli(['plan', policy, '--all']);
  const moved = /The clock of the local service is \d+ d ahead of that of this machine\. Cleanups compute ages by/;
  expect(plan).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(moved) });
  expect(plan.stdout).toMatch(new RegExp(`${old} .* skipped: no rule matches\n`));
});
