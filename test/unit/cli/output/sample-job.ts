/** A completed job for the tests of the output. */
import type { JobResult, PromptResult } from '../../../../src/protocol/job/job-result.js';

export function promptResult(change: Partial<PromptResult> = {}): PromptResult {
  return {
    prompt: 'p',
    promptId: 'pr_1',
    conversationId: 'c',
    status: 'completed',
    result: 'answer',
    resultRef: null,
    promptRef: null,
    error: null,
    queuedAt: null,
    startedAt: null,
    endedAt: null,
    ...change,
  };
}

export const jobResult: JobResult = {
  jobId: 'j',
  outcome: 'completed',
  sandboxId: 'bx_2345abcd',
  sandboxName: 'n',
  prompts: [promptResult()],
  setup: null,
  stop: { stopId: 'stop_1', status: 'completed', kept: 'none', error: null },
  deletion: null,
  files: [],
  degraded: null,
  left: [],
  wakes: [],
  wakeCount: 0,
  phases: [],
  apiCalls: 4,
  durationMs: 2_000,
  error: null,
};
