/** Stops that a job or a batch leaves failing, and that its escalation takes over. */
import { WorkflowNotFoundError } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sandboxStopId } from '../../../../../src/addresses/addresses.js';
import type { StopReport } from '../../../../../src/protocol/stop.js';
import { archivedSandbox, fanoutInput, items, run, source } from '../../../../workflows/fanout/fanout-harness.js';
import { createIntercept } from '../../../../workflows/intercept.js';
import { openListener } from '../../../../workflows/notification/listener.js';
import { healAtResume, steps } from '../../../../workflows/stop/escalation-harness.js';
import { heal } from '../../../../workflows/stop/stop-harness.js';
import { createStand, type Stand, script, shortTiming } from '../../../../workflows/workflow-harness.js';

const intercept = createIntercept();
let stand: Stand;
beforeAll(async () => {
  stand = await createStand({ through: intercept.through });
});
afterEach(async () => {
  intercept.clear();
  await heal(stand);
});
afterAll(() => stand.close());

const timing = { ...shortTiming, cleanUpMs: 8_000 };
const reportOf = async (sandboxId: string | null) =>
  (await stand.client.workflow.getHandle(sandboxStopId(sandboxId ?? '')).result()) as StopReport;

describe('a job with an escalation', () => {
  it('hands a stop that has not ended over, names who follows it, and leaves one owner of the steps', async () => {
    healAtResume(stand, intercept);
    await stand.fault({ kind: 'stop_fails', times: 100_000 });
    const job = await stand.start({
      ...{ prompts: [{ prompt: script('echo hello') }], timing },
      escalate: steps('1s: resume-and-stop'),
    });
    const result = await job.result();
    expect(result).toMatchObject({ outcome: 'completed', stop: { status: 'failing' } });
    expect(result.left).toMatchObject([
      {
        kind: 'sandbox',
        sandboxId: result.sandboxId,
        why: expect.stringMatching(/sandbox-stop\/\S+ follows the stop, and escalates it \(1s: resume-and-stop\)\.$/),
      },
    ]);
    const report = await reportOf(result.sandboxId);
    expect(report.requests).toMatchObject([{ outcome: 'archived', escalation: [{ state: 'done' }] }]);
    expect(stand.service.books.stops({ sandboxId: result.sandboxId ?? '' })).toHaveLength(2);
  });

  it('hands nothing over if its stop ends in time', async () => {
    const job = await stand.start({ escalate: steps('1s: resume-and-stop') });
    const result = await job.result();
    expect(result).toMatchObject({ outcome: 'completed', stop: { status: 'completed' }, left: [] });
    const handle = stand.client.workflow.getHandle(sandboxStopId(result.sandboxId ?? ''));
    await expect(handle.describe()).rejects.toBeInstanceOf(WorkflowNotFoundError);
  });

  it('hands nothing over if a person has resumed the sandbox', async () => {
    await stand.fault({ kind: 'stop_fails', times: 100_000 });
    const job = await stand.start({ escalate: steps('1s: delete'), timing: shortTiming });
    const stops = () => stand.service.books.stops().find(({ status }) => status === 'failing');
    await expect.poll(() => stops()).toBeDefined();
    const sandboxId =
      (await stand.api.listSandboxes({})).sandboxes.find(({ stop }) => stop?.id === stops()?.id)?.id ?? '';
    await stand.api.resumeSandbox(sandboxId, {});
    expect(await job.result()).toMatchObject({ stop: { status: 'superseded' } });
    await expect(stand.client.workflow.getHandle(sandboxStopId(sandboxId)).describe()).rejects.toBeInstanceOf(
      WorkflowNotFoundError,
    );
  });
});

describe('a batch with an escalation', () => {
  it('hands the stops of its forks over, with the target of its notifications', async () => {
    healAtResume(stand, intercept);
    const listener = await openListener();
    const from = source(await archivedSandbox(stand));
    await stand.fault({ kind: 'stop_fails', times: 100_000 });
    const input = fanoutInput(from, {
      ...{ timing, notify: { url: listener.url } },
      policy: { end: 'stop', escalate: steps('1s: resume-and-stop') },
    });
    const result = await run(stand, input, items(1));
    expect(result.left).toMatchObject([{ why: expect.stringContaining('follows the stop, and escalates it') }]);
    const [sandboxId = ''] = result.leftSandboxIds;
    expect((await reportOf(sandboxId)).requests).toMatchObject([{ outcome: 'archived' }]);
    await expect.poll(() => listener.toldOf(sandboxStopId(sandboxId)).length).toBe(2);
    await listener.close();
  });
});
