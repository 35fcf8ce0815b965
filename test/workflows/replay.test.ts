import { readdirSync, readFileSync } from 'node:fs';
import { Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { describe, expect, inject, it } from 'vitest';

const folder = new URL('../histories/', import.meta.url);
const recorded = readdirSync(folder).filter((name) => name.endsWith('.json'));
const outcomes = [
  'completed',
  'unverified',
  'prompt_failed',
  'sandbox_failed',
  'sandbox_cancelled',
  'rejected',
  'deadline_exceeded',
  'cancelled',
  'outcome_unknown',
];
const stopOutcomes = ['archived', 'already_archived', 'superseded', 'gone', 'still_failing', 'rejected'];

type History = Parameters<typeof Worker.runReplayHistory>[1];
const read = (name: string) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as History;
interface Payloads {
  readonly payloads: { data: string }[];
}
interface Recorded {
  readonly events: readonly {
    readonly workflowExecutionStartedEventAttributes?: { readonly workflowId: string; readonly input: Payloads };
    readonly childWorkflowExecutionCompletedEventAttributes?: { readonly result: Payloads };
  }[];
}
const refused = { outcome: 'rejected', error: { code: 'provider_not_configured', message: '', status: 409 } };

/** Replaces the first of recorded values. */
function change({ payloads: [first] }: Payloads, by: (value: Record<string, unknown>) => unknown): void {
  if (!first) return;
  const value = by(JSON.parse(Buffer.from(first.data, 'base64').toString('utf8')));
  first.data = Buffer.from(JSON.stringify(value)).toString('base64');
}

/** The id of the workflow, which the ids of its children contain. */
const replay = (history: History) => {
  const id = (history as Recorded).events[0]?.workflowExecutionStartedEventAttributes?.workflowId;
  const options = { workflowBundle: { codePath: inject('workflowBundlePath') } };
  return Worker.runReplayHistory(options, history, id);
};

describe('the recorded histories', () => {
  it('include each outcome', () => {
    const wanted = [...outcomes, ...stopOutcomes.map((outcome) => `stop_${outcome}`)];
    expect(wanted.filter((name) => !recorded.includes(`${name}.json`))).toEqual([]);
  });

  it.each(recorded)('replay with the current workflows: %s', async (name) => {
    await replay(read(name));
  });

  it.each([
    ['fanout-chunk-cancelled.json', { breaker: 1 }],
    ['fanout-chunk-cancelled.json', { canary: 1 }],
    ['fanout-batch.json', { canary: 1, breaker: 1 }],
  ])('of workers that know no held batch replay if a newer command asks for one: %s with %j', async (name, asked) => {
    const history = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Recorded;
    for (const {
      workflowExecutionStartedEventAttributes: start,
      childWorkflowExecutionCompletedEventAttributes: end,
    } of history.events) {
      if (start) change(start.input, (input) => ({ ...input, policy: { ...(input.policy as object), ...asked } }));
      if (end) change(end.result, (result) => ({ ...result, ...(result.outcome === 'completed' && refused) }));
    }
    await replay(history);
  });

  it('do not replay if the order of commands has changed', async () => {
    const changed = JSON.parse(
      readFileSync(new URL('completed.json', folder), 'utf8').replaceAll('"stopSandbox"', '"deleteSandbox"'),
    ) as History;
    await expect(replay(changed)).rejects.toThrow(DeterminismViolationError);
  });
});
