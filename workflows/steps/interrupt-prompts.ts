/** Interrupts what a job has running, and says what it could not interrupt. */
import { isCancellation, sleep } from '@temporalio/workflow';
import { isFinalPromptStatus } from '../../src/contract/states.js';
import { effects, reads } from '../proxies.js';
import { endOf, serviceFailureOf } from './job-ended.js';
import type { JobPrompt, JobRun } from './job-run.js';
import { patiently } from './patiently.js';

const mayRun: ReadonlySet<string> = new Set(['sending', 'queued', 'running', 'unknown']);
const looksAtMost = 20;

/**
 * Only conversations that are known to be this job's. An interrupt is repeated only while a read shows the very prompt
 * running: others may prompt in the same conversation.
 */
export async function interruptPrompts(run: JobRun, sandboxId: string): Promise<void> {
  const running = run.prompts.filter(({ status }) => mayRun.has(status));
  if (running.length === 0) return;
  run.enter('interrupting');
  for (const prompt of running) {
    if (prompt.conversationId === null) continue;
    try {
      await interruptPrompt(run, sandboxId, prompt);
    } catch (error) {
      // What cannot be interrupted is named with all that is left, unless its sandbox ends.
      if (isCancellation(error)) throw error;
      endOf(error);
    }
  }
}

async function interruptPrompt(run: JobRun, sandboxId: string, prompt: JobPrompt): Promise<void> {
  const { conversationId } = prompt;
  for (let looks = 0; looks < looksAtMost; looks += 1) {
    if (looks === 0 || prompt.status === 'running' || prompt.status === 'queued') {
      try {
        await patiently(run, 'interrupt', () => effects.interruptSandbox(sandboxId, conversationId));
      } catch (error) {
        // A machine that runs no more has nothing to interrupt, and is refused for good.
        if (serviceFailureOf(error) === undefined) throw error;
      }
    }
    const { promptId } = prompt;
    if (promptId === null) return;
    const seen = await patiently(run, 'read', () => reads.readPromptStatus(sandboxId, promptId));
    if (seen) prompt.status = seen;
    if (seen === null || isFinalPromptStatus(seen)) return;
    await sleep(Math.min(5_000, 250 * 2 ** looks), { summary: 'until the prompt is interrupted' });
  }
}

/** Prompts that may be at work in a sandbox that stays are left to somebody. */
export function nameRunningPrompts(run: JobRun): void {
  const { sandbox } = run;
  for (const { status, conversationId } of run.prompts) {
    if (!mayRun.has(status)) continue;
    const why =
      status === 'unknown' || status === 'sending'
        ? 'It is not known whether a prompt was accepted; an agent may be at work on it.'
        : `A prompt could not be interrupted, and was last seen ${status}.`;
    run.leave({
      kind: 'prompt',
      sandboxId: sandbox?.id ?? null,
      sandboxName: sandbox?.name ?? null,
      conversationId,
      why,
    });
  }
}
