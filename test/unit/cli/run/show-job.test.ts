import { expect, it } from 'vitest';
import { linksOf } from '../../../../src/cli/output/job-links.js';
import { promptText } from '../../../../src/cli/output/job-text.js';
import { linesOf } from '../../../../src/cli/run/show-job.js';
import type { PromptResult } from '../../../../src/protocol/job/job-result.js';

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 12, 0, second)).toISOString();
const prompt = (change: Partial<PromptResult>): PromptResult => ({
  ...{ prompt: 'p', promptRef: null, promptId: null, conversationId: null, result: null, resultRef: null },
  ...{ status: 'not_sent', error: null, queuedAt: null, startedAt: null, endedAt: null, ...change },
});
const following = { phase: 'following', since: at(10) } as const;
const nowMs = Date.parse(at(40));

it.each([
  [prompt({ status: 'queued' }), 'the agent is working · 30 s'],
  [prompt({ status: 'running', startedAt: at(20) }), 'the agent is working · 20 s'],
  [prompt({}), 'not sent yet'],
  [prompt({ status: 'sending' }), 'being sent'],
  [prompt({ status: 'unknown' }), 'it is unknown whether it was sent'],
  [prompt({ status: 'unknown', promptId: 'pr_1' }), 'it is unknown how it ended'],
  [prompt({ status: 'completed', startedAt: at(1), endedAt: at(6) }), 'completed after 5.0 s'],
])('a job says what its agent does in words, and not by a status (%#)', (given, words) => {
  expect(promptText(given, following, nowMs)).toBe(words);
});

it('a job shows the elapsed time, the workflow and its page in the UI', () => {
  const progress = {
    ...{ jobId: 'j', ...following, blocked: null, sandboxId: 'bx_2345abcd', prompts: [prompt({ status: 'queued' })] },
    ...{ wakes: [], apiCalls: 3, deadlineAt: at(100), outcome: null, phases: [], machineType: null },
    times: {
      startedAt: at(0),
      createdAt: null,
      usableAt: null,
      promptedAt: null,
      answeredAt: null,
      endingAt: null,
      endedAt: null,
    },
  };
  const links = linksOf({ deployment: 'd', jobId: 'j' }, { url: 'http://127.9.8.7:1234/', namespace: 'default' });
  expect(linesOf(progress, { links, startedAt: new Date(at(0)), nowMs })).toEqual([
    'the agent is working · bx_2345abcd · for 30 s',
    '  started 2026-01-01T12:00:00.000Z, 40 s ago; its deadline is in 1 m',
    '  workflow sf-d-j · http://127.9.8.7:1234/namespaces/default/workflows/sf-d-j',
    '  prompt 1: the agent is working · 30 s',
  ]);
});
