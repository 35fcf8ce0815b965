/** Looks for a prompt that an earlier run of the same item may have sent, before it is sent. */
import { sleep } from '@temporalio/workflow';
import type { PromptEvidence, PromptEvidenceQuery } from '../../activities/prompt-evidence.js';
import { reads } from '../proxies.js';
import type { JobRun } from './job-run.js';
import { patiently } from './patiently.js';

/** A call that an ended run had on its way is over by then: it lasts 30 s at most. */
const onItsWayMs = 35_000;
const lookEveryMs = 5_000;

/**
 * Asks nothing for a job, nor for an item that no run was at before.
 * @param query as for a lost answer
 */
export async function findEarlierPrompt(run: JobRun, query: PromptEvidenceQuery): Promise<PromptEvidence | undefined> {
  const { sandbox } = run;
  if (!run.input.origin?.lookFirst || !run.isFound || !sandbox) return undefined;
  run.enter('prompting');
  // What the history holds from before the fork was made is its source's.
  const beganAtMs = sandbox.createdAt === null ? query.beganAtMs : Date.parse(sandbox.createdAt);
  const earlier = { ...query, beganAtMs, shared: sandbox.createdAt !== null, oldest: true };
  for (;;) {
    const isOver = Date.now() >= run.startedAtMs + onItsWayMs;
    const found = await patiently(run, 'look for the prompt', () => reads.findPrompt(earlier));
    if (found) return found;
    if (isOver) return undefined;
    await sleep(lookEveryMs, { summary: 'what an earlier run may have sent' });
  }
}
