import { describe, expect, it } from 'vitest';
import type { JobInput } from '../../../src/protocol/job/job-input.js';
import { carriedFields, carryJob, createJobState } from '../../../workflows/job/carry-over.js';
import { JobState } from '../../../workflows/job/job-state.js';

/** Fields that a new run computes again, receives in another form, or cannot need when a run continues as new. */
const notCarried = [
  'input',
  'timing',
  'inbox',
  'reachedAtMs',
  'deletion',
  'outcome',
  'endError',
  'blocked',
  'resolution',
  'takesPrompts',
  'onThrottled',
  'onBlocked',
  'beforeEnd',
  'cleanUpEndsAtMs',
  'isTranscriptTaken',
  'transcriptRequests',
  'skipsCollecting',
  'onSkipCollecting',
  'mustContinueAsNew',
  'onWake',
  // Holds the value of `sandbox`, which is carried over.
  'newest',
];

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

describe('what a job carries over to its next run', () => {
  it('is everything that it knows: each field of a job is carried over or listed here', () => {
    const fields = [...Object.keys(new JobState(input)), 'sandbox'];
    expect(fields.filter((name) => !notCarried.includes(name)).sort()).toEqual([...carriedFields].sort());
  });

  it('is restored unchanged from JSON', () => {
    const run = new JobState(input);
    run.addPrompt({ prompt: 'second', model: 'm' });
    run.reached('made');
    run.firstSentAtMs = 7;
    Object.assign(run.prompts[0] ?? {}, { status: 'completed', result: 'done' });
    run.inbox.record({ id: 'e', type: 'sandbox.ready', createdAt: '', sandboxId: 'bx_a', sandboxName: 'n' });
    const next = createJobState({ ...input, carried: JSON.parse(JSON.stringify(carryJob(run))) });
    for (const name of carriedFields) expect(next[name], name).toEqual(run[name]);
    expect([...next.reachedAtMs]).toEqual([...run.reachedAtMs]);
    expect(next.inbox.next('bx_a', ['sandbox.ready'], 0)).toBeDefined();
    expect(next.inbox.next('bx_a', ['sandbox.ready'], run.inbox.mark())).toBeUndefined();
  });

  it('has no deadline for an item without a fork, before and after', () => {
    const origin = { key: 'k', execution: 'e', batchId: 'b', step: 'i0', firstGeneration: 1, lookFirst: false };
    const run = new JobState({ ...input, origin });
    expect(createJobState({ ...run.input, carried: JSON.parse(JSON.stringify(carryJob(run))) }).deadlineAtMs).toBe(
      Number.POSITIVE_INFINITY,
    );
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
    const run = new JobState(long);
    for (let more = 0; more < 500; more += 1) run.addPrompt({ prompt: text });
    for (const prompt of run.prompts) {
      Object.assign(prompt, {
        status: 'completed',
        result: 'x'.repeat(250),
        resultRef: 'r'.repeat(120),
        promptId: 'prm_',
        conversationId: 'conv_',
      });
    }
    const file = { path: 'a/path/of/usual.length', size: 9, sha256: 'a'.repeat(64), ref: 'r'.repeat(120), error: null };
    run.files = Array(1_000).fill({ ...file, partial: false, unchanged: false });
    for (let at = 0; at < 500; at += 1) {
      run.inbox.record({
        id: `evt_${at}`,
        type: 'sandbox.ready',
        createdAt: new Date().toISOString(),
        sandboxId: 'bx_aaaaaaaa',
        sandboxName: 'n'.repeat(63),
      });
    }
    const execution = { ...long, carried: carryJob(run) };
    expect(Buffer.byteLength(JSON.stringify(execution))).toBeLessThan(1_500_000);
  });
});
