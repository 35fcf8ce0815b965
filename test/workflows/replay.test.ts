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
interface Recorded {
  readonly events: readonly { readonly workflowExecutionStartedEventAttributes?: { readonly workflowId: string } }[];
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

  it('do not replay if the order of commands has changed', async () => {
    const changed = JSON.parse(
      readFileSync(new URL('completed.json', folder), 'utf8').replaceAll('"stopSandbox"', '"deleteSandbox"'),
    ) as History;
    await expect(replay(changed)).rejects.toThrow(DeterminismViolationError);
  });
});
