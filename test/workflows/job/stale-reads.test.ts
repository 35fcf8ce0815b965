/** After each write of a job, its reads show the state before that write for a while, or no sandbox at all. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { JobInput, JobResult } from '../../../workflows/index.js';
import { createIntercept, lost, refusal } from '../intercept.js';
import { heal } from '../stop/stop-harness.js';
import { believesNothing, createStand, type Stand, script } from '../workflow-harness.js';

const intercept = createIntercept();
let stand: Stand;
beforeAll(async () => {
  stand = await createStand({ through: intercept.through });
});
beforeEach(lag);
afterEach(async () => {
  intercept.clear();
  await heal(stand);
});
afterAll(() => stand.close());

/** Less than the lag that a job allows for. */
const lagMs = 1_500;
type Read = Awaited<ReturnType<Stand['api']['getSandbox']>>;

/** Keeps what the worker reads of a sandbox as it was before its newest write. */
function lag(): void {
  const old = new Map<string, { readonly read: Read | null; readonly untilMs: number }>();
  const keep = (id: string, read: Read | null) => old.set(id, { read, untilMs: Date.now() + lagMs });
  const shown = (id: string) => {
    const before = old.get(id);
    return before && Date.now() < before.untilMs ? before : undefined;
  };
  for (const write of ['resumeSandbox', 'stopSandbox', 'deleteSandbox', 'updateSandbox', 'sendPrompt'] as const) {
    intercept.on(write, async (call, _count, [id]) => {
      const before = await stand.api.getSandbox(String(id));
      const answer = await call();
      keep(String(id), before);
      return answer;
    });
  }
  intercept.on('createSandbox', async (call) => {
    const answer = (await call()) as Read;
    keep(answer.sandbox.id, null);
    return answer;
  });
  intercept.on('getSandbox', async (call, _count, [id]) => {
    const before = shown(String(id));
    if (before?.read === null) throw refusal('getSandbox', { status: 404, code: 'sandbox_not_found', typed: true });
    return before?.read ?? call();
  });
  intercept.on('listAllSandboxes', async (call) => {
    const rows = (await call()) as Awaited<ReturnType<Stand['api']['listAllSandboxes']>>;
    return rows.flatMap((row) => {
      const before = shown(row.id);
      return before === undefined ? [row] : before.read === null ? [] : [before.read.sandbox];
    });
  });
}

const run = async (over: Partial<JobInput> = {}): Promise<JobResult> =>
  (await stand.start({ timing: believesNothing, ...over })).result();
const stateOf = async (id: string | null) => (await stand.api.getSandbox(id ?? '')).sandbox.state;
const stopsOf = (id: string | null) => stand.service.books.stops({ sandboxId: id ?? '' });

/** A sandbox that was stopped long ago, so that every read shows it. */
async function archivedSandbox(): Promise<string> {
  const { sandbox } = await stand.api.createSandbox({ name: 'by hand' });
  await expect.poll(() => stateOf(sandbox.id)).toBe('ready');
  await stand.api.stopSandbox(sandbox.id);
  await expect.poll(() => stateOf(sandbox.id)).toBe('archived');
  return sandbox.id;
}

it('a job creates, prompts and stops one sandbox, and says so', async () => {
  const before = stand.service.books.sandboxes().length;
  const result = await run({ prompts: [{ prompt: script('echo one') }, { prompt: script('echo two') }] });
  expect(result).toMatchObject({ outcome: 'completed', stop: { status: 'completed', kept: 'saved' }, left: [] });
  expect(await stateOf(result.sandboxId)).toBe('archived');
  expect(stand.service.books.sandboxes().length - before).toBe(1);
  expect(stand.service.books.prompts({ sandboxId: result.sandboxId ?? '' })).toHaveLength(2);
  expect(stopsOf(result.sandboxId)).toHaveLength(1);
});

it.each(['reads', 'an event'])(
  'a job that resumes a sandbox, and is woken by %s, does not take its old stop for a new one',
  async (by) => {
    const sandboxId = await archivedSandbox();
    if (by === 'reads') await stand.fault({ kind: 'webhook_drop', event: 'sandbox.ready' });
    // The job reads the sandbox after a refusal.
    const put = [{ path: 'in.txt', content: { base64: Buffer.from('in').toString('base64') } }];
    await stand.fault({ kind: 'error', endpoint: 'writeFile', status: 400, code: 'machine_not_running' });
    const prompts = [{ prompt: script('cat in.txt') }];
    const result = await run({ source: { kind: 'existing', sandboxId }, put, prompts, end: 'keep' });
    expect(result).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed', result: 'in' }], left: [] });
    expect(stopsOf(sandboxId)).toHaveLength(1);
  },
);

it('a job that stops a sandbox right after its resume stops it again, and does not take the old stop for its own', async () => {
  const sandboxId = await archivedSandbox();
  const result = await run({ source: { kind: 'existing', sandboxId }, prompts: [], end: 'stop' });
  expect(result).toMatchObject({ outcome: 'completed', stop: { status: 'completed', kept: 'saved' }, left: [] });
  expect(await stateOf(sandboxId)).toBe('archived');
  expect(stopsOf(sandboxId).map(({ id }) => id)).toEqual([expect.any(String), result.stop?.stopId]);
});

it('a job whose resume was not answered stops the sandbox, although its later calls were refused', async () => {
  const sandboxId = await archivedSandbox();
  let accept = async (): Promise<unknown> => undefined;
  intercept.on('resumeSandbox', async (call, count) => {
    if (count > 1) {
      const refused = count === 2 ? { status: 429, code: 'rate_limited' } : { status: 403, code: 'forbidden' };
      throw refusal('resumeSandbox', { ...refused, typed: true });
    }
    accept = call;
    throw lost('resumeSandbox');
  });
  // The service carries the resume out after it has answered that there is nothing to stop.
  intercept.on('stopSandbox', async (call, count) => {
    const answer = await call();
    if (count === 1) await accept();
    return answer;
  });
  const result = await run({ source: { kind: 'existing', sandboxId }, end: 'stop' });
  expect(result).toMatchObject({ outcome: 'rejected', error: { code: 'forbidden' }, stop: { status: 'completed' } });
  expect(stopsOf(sandboxId).map(({ id }) => id)).toEqual([expect.any(String), result.stop?.stopId]);
  expect(await stateOf(sandboxId)).toBe('archived');
});

it('a job whose resume was refused at once does not wait for it', async () => {
  const sandboxId = await archivedSandbox();
  await stand.fault({ kind: 'error', endpoint: 'resumeSandbox', status: 403, code: 'forbidden' });
  let stops = 0;
  intercept.on('stopSandbox', (call) => {
    stops += 1;
    return call();
  });
  const result = await run({ source: { kind: 'existing', sandboxId }, end: 'stop' });
  expect(result).toMatchObject({ outcome: 'rejected', error: { code: 'forbidden' }, left: [] });
  expect(stops).toBe(1);
});

it('a job deletes its sandbox once, and says so', async () => {
  const result = await run({ end: 'delete' });
  expect(result).toMatchObject({ outcome: 'completed', deletion: { status: 'completed' }, error: null, left: [] });
  await expect(stand.api.getSandbox(result.sandboxId ?? '')).rejects.toMatchObject({ status: 404 });
});
