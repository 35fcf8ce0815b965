import { describe, expect, it } from 'vitest';
import type { JobInput, PromptStep } from '../../../src/protocol/job/job-input.js';
import { promptProblem } from '../../../workflows/job/handlers.js';
import { JobState } from '../../../workflows/job/job-state.js';

const input: JobInput = {
  deployment: 'test',
  jobId: 'job',
  source: { kind: 'create', body: {} },
  waitFor: 'usable',
  put: [],
  prompts: [{ prompt: 'first' }],
  conversations: 'one',
  collect: [],
  end: 'stop',
  deadlineMs: 60_000,
  ttlSeconds: 60,
  onUnknownOutcome: 'wait',
  maxGenerations: 3,
};

/** What the next run of the job knows. */
const nextOf = (job: JobState) => new JobState(job.input, JSON.parse(JSON.stringify(job.carry())));

describe('what a job hands to its next run', () => {
  it('is restored unchanged from JSON', () => {
    const job = new JobState(input);
    job.addPrompt({ prompt: 'second', model: 'm' });
    job.reached('made');
    job.carried.firstSentAtMs = 7;
    Object.assign(job.carried.prompts[0] ?? {}, { status: 'completed', result: 'done' });
    job.inbox.record({ id: 'e', type: 'sandbox.ready', createdAt: '', sandboxId: 'bx_a', sandboxName: 'n' });
    const next = nextOf(job);
    expect(next.carry()).toEqual(job.carry());
    expect(next.steps).toEqual(job.steps);
    expect(next.inbox.next('bx_a', ['sandbox.ready'], 0)).toBeDefined();
    expect(next.inbox.next('bx_a', ['sandbox.ready'], job.inbox.mark())).toBeUndefined();
  });

  it('has no deadline for an item without a fork, before and after', () => {
    const origin = { key: 'k', execution: 'e', batchId: 'b', step: 'i0', firstGeneration: 1, lookFirst: false };
    const job = new JobState({ ...input, origin });
    expect(job.carried.deadlineAtMs).toBeNull();
    expect(nextOf(job).carried.deadlineAtMs).toBeNull();
  });

  it('does not grow with the options of added prompts beyond a limit, within which 999 references fit', () => {
    const ref = `file-store:inputs/${'a'.repeat(64)}`;
    const text = { ref, bytes: 9, sha256: 'a'.repeat(64), head: 'x'.repeat(130) };
    const problemAfter = (count: number, step: PromptStep) => {
      const job = new JobState(input);
      for (let more = 0; more < count; more += 1) job.addPrompt(step);
      return promptProblem(job, step);
    };
    expect(problemAfter(998, { prompt: text })).toBeUndefined();
    expect(problemAfter(998, { prompt: 'go on' })).toBeUndefined();
    const long = { prompt: 'go on', model: 'm'.repeat(3_900) };
    expect(problemAfter(101, long)).toBeUndefined();
    expect(problemAfter(102, long)).toContain('may have at most 400000');
  });

  it('fits one payload of Temporal with 1,000 long prompts and answers, files, events and wakes', () => {
    const text = {
      ref: `file-store:inputs/${'a'.repeat(64)}`,
      bytes: 9,
      sha256: 'a'.repeat(64),
      head: 'x'.repeat(200),
    };
    const long = {
      ...input,
      prompts: Array(500).fill({ prompt: text }),
      collect: Array(1_000).fill('a/path/of/usual.length'),
    };
    const job = new JobState(long);
    for (let more = 0; more < 500; more += 1) job.addPrompt({ prompt: text });
    for (const prompt of job.carried.prompts) {
      Object.assign(prompt, {
        status: 'completed',
        result: 'x'.repeat(250),
        resultRef: 'r'.repeat(120),
        promptId: 'prm_',
        conversationId: 'conv_',
      });
    }
    const file = { path: 'a/path/of/usual.length', size: 9, sha256: 'a'.repeat(64), ref: 'r'.repeat(120), error: null };
    job.carried.files = Array(1_000).fill({ ...file, partial: false, unchanged: false });
    for (let at = 0; at < 500; at += 1) {
      job.inbox.record({
        id: `evt_${at}`,
        type: 'sandbox.ready',
        createdAt: new Date().toISOString(),
        sandboxId: 'bx_aaaaaaaa',
        sandboxName: 'n'.repeat(63),
      });
    }
    const execution = { ...long, carried: job.carry() };
    expect(Buffer.byteLength(JSON.stringify(execution))).toBeLessThan(1_500_000);
  });
});
