/** Each command with the actions that docs/security.md lists for it. Tier: temporal, about 25 s. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { workerActions } from '../../../../src/cli/doctor/needed-actions.js';
import { endpoints } from '../../../../src/contract/endpoints/endpoints.js';
import type { KeyAction } from '../../../../src/contract/records/key-presets.js';
import type { JobInput } from '../../../../src/protocol/job/job-input.js';
import { createResultStore } from '../../../../src/result-store/index.js';
import { actingCommands } from '../../../e2e/cli/command-bench.js';
import { cli } from '../../../unit/cli/in-process.js';
import {
  archivedSandbox,
  fanoutInput,
  items,
  run as runBatch,
  source,
  submit,
} from '../../../workflows/fanout/fanout-harness.js';
import { progressOf } from '../../../workflows/job-progress.js';
import { invocations, type Known, others } from '../../../workflows/keys/command-work.js';
import { commandRows } from '../../../workflows/keys/key-tables.js';
import { heal } from '../../../workflows/stop/stop-harness.js';
import { createStand, jobInput, patient, type Stand, script, untilGo } from '../../../workflows/workflow-harness.js';

let stand: Stand;
let home: string;
let known: Omit<Known, 'batchId'> & { readonly batchIds: readonly string[] };

/** The actions of each key that has been used, by what this process sends. */
const used = new Map<string, Set<string>>();
const routes = Object.values(endpoints).map(({ method, path, scope }) => ({
  method,
  scope,
  pattern: new RegExp(`^/v1${path.replaceAll(/\{\w+\}/g, '[^/]+')}(\\?|$)`),
}));
function onRequest(message: unknown): void {
  const { request } = message as { readonly request: { method: string; path: string; headers: unknown } };
  const [, key] = /Bearer ([^\s,]+)/.exec(String(request.headers)) ?? [];
  const route = routes.find(({ method, pattern }) => method === request.method && pattern.test(request.path));
  if (key === undefined || !route) return;
  used.set(key, (used.get(key) ?? new Set()).add(route.scope));
}

beforeAll(async () => {
  subscribe('undici:request:create', onRequest);
  home = await mkdtemp(join(tmpdir(), 'sandflow-keys-'));
  stand = await createStand({ worker: { results: createResultStore(join(home, 'results')) } });
  const sandboxId = await archivedSandbox(stand);
  await stand.api.updateSandbox(sandboxId, { snapshotName: 'named' });
  await stand.fault({ kind: 'webhook_drop', times: 1_000 });
  const environment = 'Default';
  const prompts = [{ prompt: script('exit 1'), provider: 'codex' }];
  const naming = { source: { kind: 'create', body: { from: 'named', environment } }, prompts } as const;
  const inputs: Partial<JobInput>[] = [{}, { source: { kind: 'fork', sandboxId } }, naming];
  const [jobId = '', forkJobId = '', namingJobId = ''] = await Promise.all(
    inputs.map(async (input) => (await (await stand.start(input)).result()).jobId),
  );
  // With a failed item each, so that there is something to resume.
  const batches = [fanoutInput(source(sandboxId)), fanoutInput(source(sandboxId))];
  await Promise.all(
    batches.map((batch) =>
      runBatch(
        stand,
        batch,
        items(1, () => 'exit 1'),
      ),
    ),
  );
  const namingBatch = fanoutInput({ kind: 'snapshot', from: 'named', body: { environment } });
  await runBatch(stand, namingBatch, [{ id: 'item', prompts }]);
  await heal(stand);
  const open = jobInput({ prompts: [{ prompt: script(untilGo) }] });
  const openJob = await stand.start(open);
  const openBatch = fanoutInput(source(sandboxId));
  await submit(
    stand,
    openBatch,
    items(1, () => untilGo),
  );
  known = {
    ...{ stand, sandboxId, jobId, forkJobId, namingJobId, namingBatchId: namingBatch.batchId },
    batchIds: batches.map(({ batchId }) => batchId),
    ...{ openJobId: open.jobId, openBatchId: openBatch.batchId },
  };
  await vi.waitFor(async () => {
    expect((await progressOf(openJob)).phase).toBe('following');
    expect(stand.service.books.prompts().filter(({ status }) => status === 'running')).toHaveLength(2);
  }, patient);
  await writeFile(join(home, 'items.txt'), 'hello\n');
  const rule = '{rule: one, match: {name: "nobody-*"}, action: delete-snapshot}';
  await writeFile(join(home, 'policy.yaml'), `name: keys\nrules: [${rule}]\n`);
  await writeFile(join(home, 'batch.yaml'), `items: items.txt\nsource: ${sandboxId}\n`);
  await writeFile(join(home, 'job.yaml'), 'prompt: hello\nfrom: named\nenvironment: Default\n');
});
afterAll(async () => {
  unsubscribe('undici:request:create', onRequest);
  await stand.close();
  await rm(home, { recursive: true });
});

/** An action that no command needs, because a key has at least one. */
const nothing = 'desktop' satisfies KeyAction;
let count = 0;

/** Runs every invocation of a command, with a key of its own, the first or the second time. */
async function runWith(name: string, actions: readonly string[], time = 0) {
  const { secret } = await stand.api.createApiKey({ name, actions: [...actions] as KeyAction[] });
  const ended: { readonly exitCode: number; readonly said: string }[] = [];
  for (const invocation of invocations[name] ?? []) {
    count += 1;
    const args = await invocation({ ...known, batchId: known.batchIds[time] ?? '' }, `c${count}`);
    const { exitCode, stdout, stderr } = await cli(args, {
      cwd: home,
      env: {
        ...{ SANDBOX_API_URL: stand.service.url, SANDBOX_API_KEY: secret, TEMPORAL_ADDRESS: inject('temporalAddress') },
        ...{ SANDFLOW_TASK_QUEUE: stand.taskQueue, SANDFLOW_DEPLOYMENT: 'test' },
        ...{ SANDFLOW_HOME: home, SANDFLOW_RESULTS: join(home, 'results') },
      },
    });
    ended.push({ exitCode, said: `${stdout}${stderr}` });
  }
  return { ended, exitCodes: ended.map(({ exitCode }) => exitCode), used: [...(used.get(secret) ?? [])].sort() };
}

describe('docs/security.md', () => {
  it('lists every command that calls the service, and the tests know all others', () => {
    const callers = [...new Set(Object.keys(invocations).map((name) => name.replace(/ --.*/, '')))];
    expect([...callers, ...Object.keys(others)].sort()).toEqual(actingCommands().sort());
    expect([...commandRows.keys()].filter((name) => !(name in invocations))).toEqual([]);
  });

  it.each(Object.keys(invocations))('lists exactly what %s needs and reads', async (name) => {
    const { needs, more } = commandRows.get(name) ?? { needs: [], more: [] };
    const whole = await runWith(name, ['*']);
    expect(whole.used).toEqual([...needs, ...more].sort());
    expect(await runWith(name, [...needs, nothing], 1)).toMatchObject({ exitCodes: whole.exitCodes });
    for (const action of needs) {
      const lacking = await runWith(name, [...needs.filter((one) => one !== action), nothing]);
      // Of several ways to use a command, only some need this action.
      expect(lacking.ended).toContainEqual({ exitCode: 2, said: expect.stringContaining(action) });
    }
  });
});

it('doctor names the actions that its key lacks for a worker and for the registration of the bridge', async () => {
  const actions = Object.keys(workerActions).filter((action) => action !== 'sandbox.delete');
  const { ended } = await runWith('doctor', actions);
  expect(ended[0]?.exitCode).toBe(0);
  expect(ended[0]?.said).toMatch(/^warning +actions +A worker with this key lacks sandbox\.delete \(it deletes no /m);
  expect(ended[0]?.said).toMatch(/^warning +webhook +The webhooks cannot be read: .*account\.admin/m);
  expect(ended[0]?.said).toContain('docs/security.md, "The smallest keys"');
});
