import { describe, expect, it } from 'vitest';
import type { JobResult } from '../../../workflows/job.js';
import { fitResult } from '../../../workflows/steps/fit-result.js';
import { endedAsAsked, type StartedItemResult } from '../../../workflows/steps/item-result.js';

const stopped = (status: string) => ({ stopId: 'st_1', status, kept: null, error: null });
const deleted = (status: string) => ({ operationId: 'op_1', status, error: null });
const job = { sandboxId: 'bx_1', stop: null, deletion: null };

describe('a fork ended as asked', () => {
  it.each(['completed', 'gone'])('when its stop is %s', (status) => {
    expect(endedAsAsked({ ...job, stop: stopped(status) }, 'stop')).toBe(true);
  });

  it.each(['pending', 'failing', 'superseded'])('not when its stop is %s', (status) => {
    expect(endedAsAsked({ ...job, stop: stopped(status) }, 'stop')).toBe(false);
  });

  it('not when it was to be stopped and nobody got to it', () => {
    expect(endedAsAsked(job, 'stop')).toBe(false);
  });

  it('when there was none, and when it is kept', () => {
    expect(endedAsAsked({ ...job, sandboxId: null }, 'delete')).toBe(true);
    expect(endedAsAsked(job, 'keep')).toBe(true);
  });

  it('when it was deleted, not when it was only stopped because somebody leases it', () => {
    expect(endedAsAsked({ ...job, deletion: deleted('completed') }, 'delete')).toBe(true);
    expect(endedAsAsked({ ...job, stop: stopped('completed'), deletion: deleted('leased') }, 'delete')).toBe(false);
  });
});

const prompt = (text: string, result: string | null, resultRef: string | null = null) => ({
  prompt: text,
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
    left: [],
    wakes: [],
    apiCalls: 0,
    durationMs: 0,
    error: null,
  },
});

describe('the result of an item', () => {
  const kept = new Map<string, string>();
  const keep = async (path: string, text: string) => {
    kept.set(path, text);
    return `kept:${path}`;
  };

  it('stays as it is when it fits into a payload', async () => {
    const item = itemOf([prompt('short', 'x'.repeat(60_000))]);
    expect(await fitResult(item, keep)).toBe(item);
    expect(kept.size).toBe(0);
  });

  it('keeps long answers beside it when it does not, whatever their characters take', async () => {
    const answers = ['€'.repeat(300_000), '€'.repeat(300_000), 'short', '€'.repeat(65_000)];
    const prompts = answers.map((answer, index) => prompt('p'.repeat(100_000), answer, index === 3 ? 'whole' : null));
    const fitted = await fitResult(itemOf(prompts), keep);
    expect(Buffer.byteLength(JSON.stringify(fitted))).toBeLessThan(2_000_000);
    expect(fitted.job.prompts.map(({ resultRef }) => resultRef)).toEqual([
      'kept:/results/0.txt',
      'kept:/results/1.txt',
      null,
      'whole',
    ]);
    expect(kept.get('/results/1.txt')).toBe(answers[1]);
    expect(fitted.job.prompts[2]?.result).toBe('short');
  });
});
