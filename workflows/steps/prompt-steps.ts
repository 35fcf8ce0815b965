/** Sends the prompts of a job and follows them: in order in one conversation, or side by side in several. */
import { sleep, workflowInfo } from '@temporalio/workflow';
import type { PromptEvidence, PromptEvidenceQuery } from '../../activities/prompt-evidence.js';
import { followTaskQueue } from '../../src/contract/addresses.js';
import { outcomeUnknownCode } from '../../src/contract/service-failure.js';
import { cut, headOf, type Text } from '../../src/contract/texts.js';
import { effects, followProxies, reads } from '../proxies.js';
import { findEarlierPrompt } from './earlier-prompt.js';
import { answerRoom } from './fit-result.js';
import { JobEnded, jobError, serviceFailureOf } from './job-ended.js';
import type { JobPrompt, JobRun } from './job-run.js';
import { patiently } from './patiently.js';
import { settleUnknown } from './unknown-outcome.js';
import { waitUsable } from './wait-usable.js';
import { wasReset } from './was-reset.js';

/**
 * Runs all prompts, those that are added meanwhile too.
 * @throws JobEnded `prompt_failed` at the first failure in one conversation, or after all have ended in several
 */
export async function runPrompts(run: JobRun, sandboxId: string): Promise<void> {
  const sideBySide = run.input.conversations === 'each' && run.input.prompts.length > 1;
  let next = 0;
  if (sideBySide) {
    const follows: Promise<void>[] = [];
    // One after the other: of two equal prompts on their way at once, evidence could not tell which was accepted.
    for (; next < run.input.prompts.length; next += 1) {
      await send(run, sandboxId, next, null);
      const following = follow(run, sandboxId, promptAt(run, next), true);
      // A send that fails ends the job before anybody awaits this one.
      following.catch(() => undefined);
      follows.push(following);
    }
    await Promise.all(follows);
  }
  for (; next < run.prompts.length; next += 1) {
    failIfOneFailed(run);
    await send(run, sandboxId, next, run.prompts[0]?.conversationId ?? null);
    await follow(run, sandboxId, promptAt(run, next), false);
  }
  // With no step in between, so that no prompt is taken that would not be sent.
  run.takesPrompts = false;
  failIfOneFailed(run);
}

function promptAt(run: JobRun, index: number): JobPrompt {
  const prompt = run.prompts[index];
  if (!prompt) throw new RangeError(`The job has no prompt ${index}`);
  return prompt;
}

function failIfOneFailed(run: JobRun): void {
  const failed = run.prompts.find(({ status }) => status === 'failed' || status === 'interrupted');
  if (failed) {
    throw new JobEnded(
      'prompt_failed',
      jobError(`prompt_${failed.status}`, failed.error ?? `The prompt ${failed.status}`),
    );
  }
}

async function send(run: JobRun, sandboxId: string, index: number, conversationId: string | null): Promise<void> {
  const prompt = promptAt(run, index);
  const beganAtMs = Date.now();
  const others = run.prompts.slice(0, index);
  const evidence: PromptEvidenceQuery = {
    sandboxId,
    prompt: prompt.step.prompt,
    conversationId,
    knownPromptIds: others.flatMap(({ promptId }) => promptId ?? []),
    knownConversationIds: others.flatMap(({ conversationId: known }) => known ?? []),
    beganAtMs: wasReset() ? run.startedAtMs : beganAtMs,
    shared: run.input.source.kind === 'existing',
  };
  const earlier = await findEarlierPrompt(run, evidence);
  if (earlier) return accept(run, prompt, earlier, conversationId);
  const body = { ...prompt.step, ...(conversationId === null ? { new: true } : { conversationId }) };
  for (let tries = 0; ; tries += 1) {
    run.enter('prompting');
    const since = run.inbox.mark();
    try {
      const accepted = await patiently(run, 'prompt', () => {
        prompt.status = 'sending';
        const call = { sandboxId, body, evidence, lookFirst: wasReset() && tries === 0 };
        return effects.sendPrompt.executeWithOptions({ summary: summaryOf(prompt.step.prompt) }, [call]);
      });
      accept(run, prompt, accepted, conversationId);
      return;
    } catch (error) {
      const failure = serviceFailureOf(error);
      prompt.status = failure?.code === outcomeUnknownCode ? 'unknown' : 'not_sent';
      if (failure?.code === 'sandbox_not_promptable') {
        // What woke the job was only a hint: ask the service, then wait for the next one.
        if (tries > 0) await sleep(Math.min(30_000, 500 * 2 ** tries));
        if ((await waitUsable(run, sandboxId, { since, readFirst: true })) === 'usable') continue;
        throw new JobEnded('sandbox_failed', jobError('sandbox_gone', 'The sandbox went away before the prompt'));
      }
      if (failure?.code !== outcomeUnknownCode) throw error;
      const look = async () =>
        (await patiently(run, 'look for the prompt', () => reads.findPrompt(evidence))) ?? undefined;
      const settled = await settleUnknown(run, 'prompt', failure.message, look);
      if (!('evidence' in settled) && settled.action === 'abandon') throw error;
      if (!('evidence' in settled) && settled.action === 'resend') continue;
      const { promptId = null, conversationId: of = null } = 'evidence' in settled ? settled.evidence : settled;
      accept(run, prompt, { promptId, conversationId: of }, conversationId);
      return;
    }
  }
}

function accept(run: JobRun, prompt: JobPrompt, accepted: PromptEvidence, conversationId: string | null): void {
  if (!run.reachedAtMs.has('prompted')) run.reached('prompted');
  prompt.promptId = accepted.promptId;
  prompt.conversationId = accepted.conversationId ?? conversationId;
  prompt.status = 'queued';
}

function summaryOf(text: Text): string {
  return cut(headOf(text, 500).trim().split('\n', 1)[0] ?? '', 80);
}

/** Sees one prompt to its end; `sandbox_lost` is only the end when the sandbox does not come back. */
async function follow(run: JobRun, sandboxId: string, prompt: JobPrompt, sideBySide: boolean): Promise<void> {
  const { taskQueue, workflowId, firstExecutionRunId } = workflowInfo();
  const index = run.prompts.indexOf(prompt);
  const proxies = followProxies(followTaskQueue(taskQueue));
  const knownPromptIds = run.prompts.slice(0, index).flatMap(({ promptId }) => promptId ?? []);
  for (;;) {
    run.enter('following');
    const since = run.inbox.mark();
    const input = {
      sandboxId,
      promptId: prompt.promptId,
      conversationId: prompt.conversationId,
      prompt: prompt.step.prompt,
      knownPromptIds,
      resultKey: `${workflowId}/${firstExecutionRunId}/results/${index}.txt`,
      answerBytes: answerRoom(run.prompts, { waiting: sideBySide ? run.input.prompts.length : 1 }),
      // Conversations of others keep a shared sandbox running too.
      sideBySide: sideBySide || run.input.source.kind === 'existing',
    };
    const end = await patiently(run, 'follow', () =>
      proxies.followPrompt.executeWithOptions({ summary: summaryOf(prompt.step.prompt) }, [input]),
    );
    if (end.status !== 'sandbox_lost') {
      const { sandboxState: _, promptId, ...known } = end;
      Object.assign(prompt, known, { promptId: promptId ?? prompt.promptId });
      run.reached('answered');
      return;
    }
    const isStopped = end.sandboxState === 'archived' || end.sandboxState === 'archiving';
    if (end.sandboxState !== null && !isStopped) {
      if ((await waitUsable(run, sandboxId, { since, readFirst: true })) === 'usable') continue;
    }
    prompt.status = 'unknown';
    const why = isStopped ? 'was stopped' : 'went away';
    throw new JobEnded('sandbox_failed', jobError('sandbox_stopped', `The sandbox ${why} under the prompt`));
  }
}
