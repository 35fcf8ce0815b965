/** Records one history of each outcome. Not a test: run it before a change of the workflows, and keep the old ones. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { readConfig } from '../../src/config.js';
import type { FaultInput } from '../../src/local-service/index.js';
import { findTemporalServer } from '../../src/temporal/find-server.js';
import { type JobInput, type JobOutcome, progressQuery } from '../../workflows/index.js';
import { createStand, type Stand, script } from '../workflows/stand.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand();
});
afterAll(() => stand.close());

const long = [{ prompt: script('sleep 60') }];
const page: FaultInput = { kind: 'error', endpoint: 'sendPrompt', status: 502, html: true };
const recordings: [JobOutcome, Partial<JobInput>, FaultInput[]][] = [
  ['completed', {}, []],
  ['prompt_failed', { prompts: [{ prompt: script('exit 3') }], collect: ['note'] }, []],
  ['sandbox_failed', { timing: { errorGraceMs: 500 } }, [{ kind: 'boot_error' }]],
  ['sandbox_cancelled', { maxGenerations: 2 }, [{ kind: 'create_cancelled', times: 2 }]],
  ['rejected', { prompts: [{ prompt: 'hi', provider: 'nobody' }] }, []],
  ['deadline_exceeded', { prompts: long, deadlineMs: 2_000, end: 'delete' }, []],
  ['cancelled', { prompts: long }, []],
  ['outcome_unknown', { onUnknownOutcome: 'abandon' }, [page]],
];

it.each(recordings)('records %s', async (outcome, input, faults) => {
  for (const fault of faults) await stand.fault(fault);
  const handle = await stand.start(input);
  if (outcome === 'cancelled') {
    await expect.poll(async () => (await handle.query(progressQuery)).phase, { timeout: 20_000 }).toBe('following');
    await handle.cancel();
  }
  expect((await handle.result()).outcome).toBe(outcome);
  await save(outcome, handle.workflowId);
});

it('records a watch', async () => {
  const { sandbox } = await stand.api.createSandbox({ name: 'by hand' });
  await expect.poll(async () => (await stand.api.getSandbox(sandbox.id)).sandbox.state).toBe('ready');
  await stand.api.stopSandbox(sandbox.id);
  await expect.poll(async () => (await stand.api.getSandbox(sandbox.id)).sandbox.state).toBe('archived');
  const handle = await stand.start({ source: { kind: 'existing', sandboxId: sandbox.id }, end: 'stop' });
  expect((await handle.result()).outcome).toBe('completed');
  await save('completed-existing', handle.workflowId);
  const watch = stand.client.workflow.getHandle(`sandbox-watch/${sandbox.id}`);
  await watch.result();
  await save('watch', watch.workflowId);
});

/** Who recorded it, and where the code lay, is nobody's business. */
async function save(name: string, workflowId: string): Promise<void> {
  const binary = await findTemporalServer({ cacheDirectory: readConfig().cacheDirectory });
  const show = ['workflow', 'show', '--workflow-id', workflowId, '--output', 'json'];
  const { stdout } = await promisify(execFile)(binary, [...show, '--address', inject('temporalAddress')], {
    maxBuffer: 64 * 1024 * 1024,
  });
  const file = fileURLToPath(new URL(`${name}.json`, import.meta.url));
  const clean = JSON.stringify(
    JSON.parse(stdout),
    (key, value) => (key === 'stackTrace' ? '' : key === 'identity' ? 'recorder' : value),
    1,
  );
  await writeFile(file, `${clean}\n`);
}
