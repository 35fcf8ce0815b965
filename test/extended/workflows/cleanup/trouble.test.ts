import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { sandboxWatchId } from '../../../../src/addresses/addresses.js';
import { ListIncompleteError, type SandboxClient } from '../../../../src/client/index.js';
import { cleanupProgress, listCleanups } from '../../../../src/workflow-client/cleanups/cleanup-client.js';
import { shareChangedStand } from '../../../workflows/changed-stand.js';
import {
  archived,
  begin,
  clean,
  cleaned,
  listedAsStopped,
  policyFor,
  ready,
  stateOf,
} from '../../../workflows/cleanup/cleanup-harness.js';
import { lost } from '../../../workflows/intercept.js';
import { deployment, patient, withoutPolls } from '../../../workflows/workflow-harness.js';

const { stand, change } = shareChangedStand();

const calls = (endpoint: string, sandboxId: string) =>
  stand.service.books.calls({ sandboxId }).filter((call) => call.endpoint === endpoint);
const many = (prefix: string, count: number) =>
  Promise.all(Array.from({ length: count }, (_, index) => archived(stand, `${prefix}-${index}`)));

describe('a cleanup', () => {
  it('does nothing with a part of the account, and says so', async () => {
    const [kept = ''] = await many('partly', 1);
    change.listAllSandboxes = () =>
      Promise.reject(new ListIncompleteError('listSandboxes', '1 row, and `total` says more'));
    const done = await clean(stand, policyFor('partly', 'delete-sandbox'));
    expect(done.summary).toMatchObject({ outcome: 'failed', error: { code: 'list_incomplete' } });
    expect(await stateOf(stand, kept)).toBe('archived');
  });

  it('finds the effect of a call whose answer was lost, and does not repeat it', async () => {
    const [old = ''] = await many('lost', 1);
    await stand.fault({ kind: 'drop_response', endpoint: 'deleteSandbox' });
    const done = await clean(stand, policyFor('lost', 'delete-sandbox'));
    expect(done.of(old), 'the operation is over, and nobody has its id').toBe('gone');
    expect(await stateOf(stand, old)).toBe('gone');
    const running = await ready(stand, 'unheard-1');
    await stand.fault({ kind: 'drop_response', endpoint: 'stopSandbox' });
    const stopped = await clean(stand, policyFor('unheard', 'stop'));
    expect(stopped.of(running)).toBe('stopped');
    expect(stand.service.books.stops({ sandboxId: running })).toHaveLength(1);
    expect(calls('stopSandbox', running)).toHaveLength(1);
  });

  it('repeats what fails, reports what is refused for good, and continues with the rest', async () => {
    const ids: string[] = [];
    // One after the other, as the cleanup takes them: the first gets both errors.
    for (let index = 0; index < 4; index += 1) ids.push(await archived(stand, `fail-${index}`));
    const refused = ids[1] ?? '';
    Object.assign(change, {
      deleteSandbox: (id, options) =>
        id === refused ? stand.api.deleteSandbox('bx_22222222', { ...options }) : stand.api.deleteSandbox(id, options),
    } satisfies Partial<SandboxClient>);
    await stand.fault({ kind: 'error', endpoint: 'deleteSandbox', status: 502, html: true });
    await stand.fault({ kind: 'error', endpoint: 'deleteSandbox', status: 403, code: 'api_key_action_forbidden' });
    const done = await clean(stand, policyFor('fail', 'delete-sandbox'), { concurrency: 1 });
    const outcomes = ids.map(done.of);
    expect(outcomes.filter((outcome) => outcome === 'deleted')).toHaveLength(2);
    expect(outcomes.filter((outcome) => outcome === 'failed')).toHaveLength(1);
    expect(done.of(refused)).toBe('gone');
    expect(done.summary).toMatchObject({ outcome: 'applied', counts: { deleted: 2, failed: 1 } });
    const failed = done.report.plan?.entries
      .flatMap(({ results }) => results)
      .find(({ outcome }) => outcome === 'failed');
    expect(failed?.why).not.toBe('');
    expect(await stateOf(stand, refused)).toBe('archived');
  });

  it('requests a failed deletion again, and reports it if it keeps failing', async () => {
    const [first = '', second = ''] = await many('dying', 2);
    const failures = new Map([
      [first, 1],
      [second, 100],
    ]);
    const failed = new Map<string, string>();
    Object.assign(change, {
      deleteSandbox: async (id, options) => {
        const left = failures.get(id) ?? 0;
        if (left === 0) return stand.api.deleteSandbox(id, options);
        failures.set(id, left - 1);
        const operationId = `del_${id}`;
        failed.set(operationId, id);
        const operation = { id: operationId, sandboxId: id, status: 'failed', error: 'the disk is busy' };
        return { ok: true, type: 'sandbox.deleting', operationId, operation };
      },
      getDeletionOperation: async (id, options) => {
        if (!failed.has(id)) return stand.api.getDeletionOperation(id, options);
        const operation = { id, status: 'failed', error: 'the disk is busy' };
        return { ok: true, type: 'deletion.status', id, status: 'failed', operation };
      },
    } satisfies Partial<SandboxClient>);
    const done = await clean(stand, policyFor('dying', 'delete-sandbox'));
    expect(done.of(first)).toBe('deleted');
    expect(done.of(second)).toBe('failed');
    expect(failures.get(second), 'three attempts').toBe(97);
    const result = done.report.plan?.entries.find(({ sandboxId }) => sandboxId === second)?.results[0];
    expect(result?.why).toBe('the deletion failed: the disk is busy');
  });

  it('is woken by the event of its stop, and not by a poll', async () => {
    const running = await ready(stand, 'woken-1');
    const done = await clean(stand, policyFor('woken', 'stop'), { timing: withoutPolls });
    expect(done.of(running)).toBe('stopped');
    expect(calls('getStop', running)).toEqual([]);
    const watch = stand.client.workflow.getHandle(sandboxWatchId(running));
    await expect.poll(async () => (await watch.describe()).status.name).toBe('COMPLETED');
  });

  it('reports a stop that does not end as unconfirmed, and does not wait for ever', async () => {
    const slow = await ready(stand, 'slow-1');
    await stand.fault({ kind: 'stop_fails', times: 1_000 });
    const done = await clean(stand, policyFor('slow', 'stop'), { actionDeadlineMs: 5_000 });
    expect(done.of(slow)).toBe('not_confirmed');
    expect(done.summary).toMatchObject({ outcome: 'applied', counts: { not_confirmed: 1 } });
  });

  it('continues as new when its history is long, with everything counted and its first start', async () => {
    const ids = await many('long', 5);
    const handle = await begin(stand, policyFor('long', 'delete-sandbox'), { chunkSize: 2, maxHistoryEvents: 20 });
    const done = await cleaned(stand, await handle.result());
    expect(ids.map(done.of)).toEqual(ids.map(() => 'deleted'));
    expect(done.summary).toMatchObject({ outcome: 'applied', counts: { deleted: 5 } });
    const { runId, raw, startTime } = await stand.client.workflow.getHandle(handle.workflowId).describe();
    expect(runId).not.toBe(raw.workflowExecutionInfo?.firstRunId);
    const { startedAt } = done.summary;
    expect(Date.parse(startedAt), 'the start of the newest run is later').toBeLessThan(startTime.getTime());
    const listed = async () =>
      (await listCleanups(stand.client, { deployment, limit: 200 })).map((row) => row.startedAt);
    await expect.poll(listed).toContain(startedAt);
  });

  it('ends when it is cancelled, with a report of what it has not reached', async () => {
    const ids = [await ready(stand, 'cut-0'), await ready(stand, 'cut-1'), await ready(stand, 'cut-2')];
    await stand.fault({ kind: 'stop_fails', times: 1_000 });
    const handle = await begin(stand, policyFor('cut', 'stop'), { concurrency: 1 });
    await expect.poll(() => stand.service.books.stops().filter(({ status }) => status === 'failing')).not.toEqual([]);
    expect(await cleanupProgress(handle)).toMatchObject({ phase: 'applying', due: 3 });
    await handle.cancel();
    const done = await cleaned(stand, await handle.result());
    expect(done.summary).toMatchObject({ outcome: 'cancelled', counts: { not_confirmed: 1, not_reached: 2 } });
    expect(ids.map(done.of)).toEqual(['not_confirmed', 'not_reached', 'not_reached']);
  });

  it.each([
    ['cut-late', 1],
    ['cut-lost', 2],
  ])('reports as unconfirmed what was deleted while it was cancelled, if the answer is %s', async (how, count) => {
    const ids = await many(how, count);
    const handle = await begin(stand, policyFor(how, 'delete-sandbox'), { concurrency: 1 });
    Object.assign(change, {
      deleteSandbox: async (id, { signal } = {}) => {
        await handle.cancel();
        if (signal && !signal.aborted) await once(signal, 'abort');
        const answer = await stand.api.deleteSandbox(id);
        signal?.throwIfAborted();
        if (how === 'cut-lost') throw lost('deleteSandbox');
        return answer;
      },
    } satisfies Partial<SandboxClient>);
    const done = await cleaned(stand, await handle.result());
    expect(done.summary).toMatchObject({ outcome: 'cancelled', counts: { not_confirmed: 1, not_reached: count - 1 } });
    const deleted = stand.service.books.sandboxes().filter(({ id, gone }) => ids.includes(id) && gone !== null);
    expect(deleted.map(({ id }) => done.of(id))).toEqual(['not_confirmed']);
  });

  it('tells the night in one notification, and warns before the data of a protected sandbox expires', async () => {
    const golden = await archived(stand, 'warn-golden');
    await archived(stand, 'warn-fresh');
    const told: string[] = [];
    const server = createServer((request, response) => {
      request.on('data', (piece: Buffer) => told.push(piece.toString('utf8')));
      request.on('end', () => response.end());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const endedAt = new Date(Date.now() - 12 * 86_400_000).toISOString();
    Object.assign(change, listedAsStopped(stand, golden, endedAt));
    const more = `protect: ["warn-*"]\nwarnBeforeExpiry: 3d\nnotify: {url: "http://127.0.0.1:${port}"}`;
    const { summary } = await clean(stand, policyFor('warn', 'delete-sandbox', more));
    await vi.waitFor(() => expect(told).toHaveLength(2), patient);
    server.close();
    const dataExpiresAt = new Date(Date.parse(endedAt) + 14 * 86_400_000).toISOString();
    const warnings = [{ sandboxId: golden, name: 'warn-golden', dataExpiresAt }];
    expect(summary).toMatchObject({ counts: { deleted: 0 }, planned: { warnings, warningCount: 1 } });
    const messages = told.map((text) => JSON.parse(text) as { readonly event: string });
    expect(messages.find(({ event }) => event === 'data_expiring')).toMatchObject({
      jobId: null,
      message: expect.stringContaining(golden),
    });
    expect(messages.find(({ event }) => event === 'ended')).toMatchObject({
      outcome: 'applied',
      message: 'warn: nothing to do',
    });
  });

  it('reports that no plan could be created if the service refuses for good', async () => {
    await stand.fault({ kind: 'error', endpoint: 'listSandboxes', status: 403, code: 'api_key_action_forbidden' });
    const { summary } = await clean(stand, policyFor('refused', 'stop'));
    expect(summary).toMatchObject({ outcome: 'failed', planned: null, error: { code: 'api_key_action_forbidden' } });
  });
});
