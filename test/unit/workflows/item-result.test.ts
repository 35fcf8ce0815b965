import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withEnding } from '../../../activities/fanout/store.js';
import type { FanoutItemInput } from '../../../src/protocol/fanout/fanout-input.js';
import type { JobResult, PromptResult } from '../../../src/protocol/job/job-result.js';
import { maxJobResultBytes, maxSteps } from '../../../src/protocol/limits.js';
import { bytesOf, headLength } from '../../../src/protocol/stored-text.js';
import { payloadBytes } from '../../../src/texts/length.js';
import { endingOf, itemResult, itemSummary, type StartedItemResult } from '../../../workflows/fanout/item/result.js';
import { hasEndedAsRequested } from '../../../workflows/job/end/has-ended.js';
import type { JobState } from '../../../workflows/job/job-state.js';
import { answerRoom, truncateResult } from '../../../workflows/job/truncate-result.js';

const stopped = (status: string) => ({ stopId: 'st_1', status, kept: null, error: null });
const deleted = (status: string) => ({ operationId: 'op_1', status, error: null });
const job = { sandboxId: 'bx_1', stop: null, deletion: null };

describe('a fork ended as requested', () => {
  it.each(['completed', 'gone'])('if its stop is %s', (status) => {
    expect(hasEndedAsRequested({ ...job, stop: stopped(status) }, 'stop')).toBe(true);
  });

  it.each(['pending', 'failing', 'superseded'])('not if its stop is %s', (status) => {
    expect(hasEndedAsRequested({ ...job, stop: stopped(status) }, 'stop')).toBe(false);
  });

  it('not if it was to be stopped and no stop was requested', () => {
    expect(hasEndedAsRequested(job, 'stop')).toBe(false);
  });

  it('if there was none, and if it is kept', () => {
    expect(hasEndedAsRequested({ ...job, sandboxId: null }, 'delete')).toBe(true);
    expect(hasEndedAsRequested(job, 'keep')).toBe(true);
  });

  it('if it was deleted, not if it was only stopped because of a lease', () => {
    expect(hasEndedAsRequested({ ...job, deletion: deleted('completed') }, 'delete')).toBe(true);
    expect(hasEndedAsRequested({ ...job, stop: stopped('completed'), deletion: deleted('leased') }, 'delete')).toBe(
      false,
    );
  });
});

const prompt = (text: string, result: string | null, resultRef: string | null = null): PromptResult => ({
  prompt: text,
  promptRef: null,
  promptId: null,
  conversationId: null,
  status: 'completed',
  result,
  resultRef,
  error: null,
  queuedAt: null,
  startedAt: null,
  endedAt: null,
});
const itemOf = (prompts: JobResult['prompts']): StartedItemResult => ({
  batchId: 'b',
  itemId: 'i',
  index: 0,
  generation: 1,
  outcome: 'completed',
  labels: {},
  type: 'default',
  times: {
    queuedAt: null,
    forkedAt: null,
    usableAt: null,
    promptedAt: null,
    answeredAt: null,
    endingAt: null,
    endedAt: null,
  },
  machineSeconds: 0,
  job: {
    jobId: 'b',
    outcome: 'completed',
    sandboxId: null,
    sandboxName: null,
    prompts,
    setup: null,
    stop: null,
    deletion: null,
    files: [],
    degraded: null,
    left: [],
    wakes: [],
    wakeCount: 0,
    phases: [],
    apiCalls: 0,
    durationMs: 0,
    error: null,
  },
});

describe('the summary of an item', () => {
  const at = { sandboxId: 'bx_1', sandboxName: 'fork' };
  const prompts = ['a', 'b', 'c', 'd'].map((conversationId) => ({
    ...({ kind: 'prompt', ...at, conversationId, why: 'It may still run.' } as const),
  }));
  const machine = { kind: 'sandbox', ...at, conversationId: null, why: 'The stop was not accepted.' } as const;
  const options = { end: 'stop', unconfirmedName: null, resultRef: null, ending: null } as const;
  const summaryOf = (left: JobResult['left']) => {
    const item = itemOf([]);
    const job = { ...item.job, ...at, left };
    return itemSummary({ ...item, job }, options);
  };

  it('says whether a prompt may have been sent', () => {
    const input = { job: {}, index: 0 } as unknown as FanoutItemInput;
    const job = { carried: { generation: 1, reachedAtMs: {} }, sandbox: null } as unknown as JobState;
    const of = (statuses: readonly string[], isOfEarlierRun = false) => {
      const { job: result } = itemOf(statuses.map((status) => ({ ...prompt('p', 'answer'), status })));
      return itemSummary(itemResult(input, job, result, { nowMs: 0, hasEnded: true, isOfEarlierRun }), options);
    };
    expect(of(['not_sent', 'not_sent']).wasPrompted).toBe(false);
    expect(of(['unknown', 'not_sent']).wasPrompted).toBe(true);
    expect(of(['not_sent'], true).wasPrompted).toBe(true);
  });

  it('names a machine that runs on, however many prompts run in it', () => {
    const { left, endedAsAsked } = summaryOf([...prompts, machine]);
    expect({ first: left[0], endedAsAsked }).toEqual({ first: machine, endedAsAsked: false });
  });

  it('names a machine whose stop is unknown, even if only its prompts were named', () => {
    expect(summaryOf(prompts).left[0]).toMatchObject({ kind: 'sandbox', sandboxId: 'bx_1' });
  });
});

describe('what an item leaves to its chunk', () => {
  const at = { sandboxId: 'bx_1', sandboxName: 'fork' };
  const before = itemOf([prompt('short', 'x'.repeat(60_000))]);
  const after = {
    ...before,
    times: { ...before.times, endedAt: '2026-01-01T00:00:01.000Z' },
    machineSeconds: 2,
    job: { ...before.job, ...at, stop: stopped('completed'), apiCalls: 7 },
  };

  it('makes the stored result the whole one, and contains only what has changed', () => {
    const ending = endingOf('key', before, after);
    expect(ending && withEnding(before, ending)).toEqual(after);
    expect(ending?.key).toBe('key');
    expect(payloadBytes(ending)).toBeLessThan(1_000);
  });

  it('is nothing if it is too long: then the item stores its whole result again', () => {
    const error = { code: 'x', message: 'y'.repeat(5_000), status: null, requestId: null, details: null };
    expect(endingOf('key', before, { ...after, job: { ...after.job, error } })).toBeNull();
  });
});

describe('the result of a job or an item', () => {
  it('is unchanged if it fits into a payload', () => {
    const { job } = itemOf([prompt('short', 'x'.repeat(60_000))]);
    expect(truncateResult(job)).toBe(job);
  });

  it('is truncated if it does not fit, whatever its characters take, and names the whole answers', () => {
    const answers = ['€'.repeat(300_000), '€'.repeat(300_000), 'short', '€'.repeat(65_000)];
    const prompts = answers.map((answer, index) => prompt('p'.repeat(100_000), answer, `whole ${index}`));
    const { job } = itemOf(prompts);
    const result = truncateResult(job);
    expect(payloadBytes(result)).toBeLessThan(maxJobResultBytes);
    expect(result.prompts.map(({ resultRef }) => resultRef)).toEqual(['whole 0', 'whole 1', 'whole 2', 'whole 3']);
    expect(result.prompts[2]?.result).toBe('short');
  });

  it('of 1,000 prompts with answers and errors of any size fits into a payload, side by side or in order', () => {
    fc.assert(
      fc.property(
        fc.boolean(),
        fc.array(fc.record({ bytes: fc.nat(20_000), fails: fc.boolean() }), { minLength: 50, maxLength: 50 }),
        fc.constantFrom('x', '€', '\u0001'),
        (sideBySide, kinds, letter) => {
          const held: PromptResult[] = [];
          for (let index = 0; index < maxSteps; index += 1) {
            const { bytes = 0, fails = false } = kinds[index % kinds.length] ?? {};
            const room = answerRoom(sideBySide ? [] : held, { waiting: sideBySide ? maxSteps : 1 });
            const text = letter.repeat(Math.floor(Math.min(bytes, room) / bytesOf(letter)));
            const ref = `file-store:${'r'.repeat(150)}`;
            const one = prompt('p'.repeat(headLength), fails ? null : text, bytes > room ? ref : null);
            held.push({ ...one, promptRef: ref, error: fails ? text : null });
          }
          const { job } = itemOf(held);
          expect(payloadBytes(truncateResult(job))).toBeLessThan(maxJobResultBytes);
        },
      ),
      { numRuns: 4 },
    );
  });
});
