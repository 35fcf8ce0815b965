/** Realistic batches, identical for the same number of items. */

import type { ItemOutcome } from '../../../src/protocol/fanout/fanout-input.js';
import type { FanoutResult, ItemResult } from '../../../src/protocol/fanout/fanout-result.js';
import { createFanoutReport } from '../../../src/report/fanout-report.js';
import type { Overview, ReportContext } from '../../../src/report/overview.js';
import { answerOf, topics, variants } from './sample-answers.js';

const startMs = Date.parse('2026-03-01T09:00:00Z');
const slots = 40;

export interface SampleOptions {
  /** Every topic with every variant, instead of a list of prompts. */
  readonly matrix?: boolean;
  /** The end of each answer. Default: none. */
  readonly answer?: (index: number) => string;
  /** Only this outcome. */
  readonly outcome?: ItemOutcome;
}

export interface SampleBatch {
  readonly result: Overview['result'];
  readonly items: readonly ItemResult[];
  readonly previews: ReadonlyMap<string, string>;
  readonly generatedAt: string;
}

/** The page of a batch. @param saved where its files are saved, by their remote path. Default: nowhere */
export function pageOf(
  { result, items, previews, generatedAt }: SampleBatch,
  context?: ReportContext,
  saved?: ReadonlyMap<string, string>,
): string {
  const report = createFanoutReport(result, previews, context);
  for (const item of items) report.add(item, saved);
  return report.render(generatedAt);
}

/** @param count items, of which some fail unless `outcome` says otherwise */
export function sampleBatch(
  count: number,
  options: SampleOptions = {},
): SampleBatch & { readonly result: FanoutResult } {
  const random = seeded(count);
  const freeAt = new Array<number>(Math.min(slots, Math.max(2, Math.ceil(count / 3)))).fill(20_000);
  const previews = new Map<string, string>();
  const items = Array.from({ length: count }, (_, index) => {
    const slot = freeAt.indexOf(Math.min(...freeAt));
    const item = sampleItem(index, freeAt[slot] ?? 0, random, options);
    freeAt[slot] = Date.parse(item.times.endedAt ?? '') - startMs || (freeAt[slot] ?? 0);
    for (const { ref, path } of item.job?.files ?? []) {
      if (ref && path.endsWith('.md'))
        previews.set(ref, `# Notes of ${item.itemId}\n\nNothing here was checked by hand.\n`);
    }
    return item;
  });
  const durationMs = Math.max(...freeAt) + 4_000;
  return { result: resultOf(items, durationMs), items, previews, generatedAt: at(durationMs + 3_000) };
}

function sampleItem(index: number, freeMs: number, random: () => number, options: SampleOptions): ItemResult {
  const outcome = options.outcome ?? pickOutcome(random());
  const topic = topics[Math.floor(options.matrix ? index / variants.length : index) % topics.length] ?? '';
  const variant = variants[index % variants.length] ?? { model: 'one', effort: 'low' };
  const isForked = outcome !== 'not_started';
  const isUsable = isForked && outcome !== 'sandbox_cancelled';
  const isPrompted = isUsable && outcome !== 'sandbox_failed' && outcome !== 'rejected';
  const isAnswered = outcome === 'completed' || outcome === 'prompt_failed';
  const forked = freeMs + 300 + random() * 900;
  const usable = forked + 2_000 + random() * 9_000;
  const prompted = usable + 400 + random() * 2_500;
  const answered = prompted + 15_000 + random() ** 3 * 240_000;
  const ending =
    (isAnswered ? answered : isPrompted ? answered + 30_000 : isUsable ? usable + 5_000 : forked + 12_000) + 700;
  const ended = ending + 3_000 + random() * 8_000;
  const answer = `${answerOf(topic, variant.model, index)}${options.answer?.(index) ?? ''}`;
  const error = outcome === 'completed' ? null : errorOf(outcome);
  return {
    batchId: 'nightly-review',
    itemId: options.matrix
      ? `${Math.floor(index / variants.length) + 1}/${variant.model}/${variant.effort}`
      : `case-${index + 1}`,
    index,
    generation: random() < 0.06 ? 2 : 1,
    outcome,
    labels: options.matrix ? { ...variant } : { area: topic.split(' ')[0] ?? '' },
    type: 'default',
    times: {
      queuedAt: at(2_000 + index * 3),
      forkedAt: isForked ? at(forked) : null,
      usableAt: isUsable ? at(usable) : null,
      promptedAt: isPrompted ? at(prompted) : null,
      answeredAt: isAnswered ? at(answered) : null,
      endingAt: isForked ? at(ending) : null,
      endedAt: isForked ? at(ended) : null,
    },
    machineSeconds: isForked ? Math.round((ended - forked) / 100) / 10 : 0,
    job: isForked
      ? {
          jobId: `nightly-review-${index}`,
          outcome,
          sandboxId: `sbx_${(index + 1_000_003).toString(36)}`,
          sandboxName: `sf-main-nightly-review-0123456789ab-i${index.toString(36)}-1`,
          prompts: [
            {
              prompt: topic,
              promptId: `prm_${index}`,
              conversationId: `cnv_${index}`,
              status: isAnswered ? (outcome === 'completed' ? 'completed' : 'failed') : 'not_sent',
              result: outcome === 'completed' ? answer : null,
              resultRef: null,
              promptRef: null,
              error: outcome === 'prompt_failed' ? 'The agent ended with status 1: the tests did not pass.' : null,
              queuedAt: isPrompted ? at(prompted) : null,
              startedAt: isPrompted ? at(prompted) : null,
              endedAt: isAnswered ? at(answered) : null,
            },
          ],
          setup: null,
          stop: { stopId: `stp_${index}`, status: 'completed', kept: 'saved', error: null },
          deletion: null,
          files: filesOf(outcome, index),
          degraded: null,
          left: [],
          wakes: [],
          wakeCount: 0,
          phases: [],
          apiCalls: 9,
          durationMs: ended - forked,
          error,
        }
      : null,
  };
}

function filesOf(outcome: ItemOutcome, index: number): NonNullable<ItemResult['job']>['files'] {
  if (outcome !== 'completed') return [];
  return [
    {
      path: 'out/notes.md',
      size: 48,
      sha256: 'a'.repeat(64),
      ref: `notes-${index}`,
      error: null,
      partial: false,
      unchanged: null,
    },
    {
      path: 'out/patch.diff',
      size: 4_812 + index,
      sha256: 'b'.repeat(64),
      ref: `patch-${index}`,
      error: null,
      partial: false,
      unchanged: null,
    },
    ...(index % 5 === 0
      ? [
          {
            path: 'out/log.txt',
            size: null,
            sha256: null,
            ref: null,
            error: 'no such file',
            partial: false,
            unchanged: null,
          },
        ]
      : []),
  ];
}

function resultOf(items: readonly ItemResult[], durationMs: number): FanoutResult {
  const byOutcome: Partial<Record<ItemOutcome, number>> = {};
  for (const { outcome } of items) byOutcome[outcome] = (byOutcome[outcome] ?? 0) + 1;
  const completed = byOutcome.completed ?? 0;
  const spentSeconds = items.reduce((total, { machineSeconds }) => total + machineSeconds, 0);
  return {
    batchId: 'nightly-review',
    batchKey: '0f3c7a52-6f0e-4b7e-9d57-0123456789ab',
    title: 'Nightly review of the billing service',
    phase: 'ended',
    since: at(durationMs),
    startedAt: at(0),
    deadlineAt: at(7_200_000),
    sourceSandboxId: 'sbx_source_7q2k',
    sealed: true,
    chunks: Math.ceil(items.length / 100),
    counts: {
      items: items.length,
      queued: 0,
      running: 0,
      completed,
      failed: items.length - completed,
      retried: items.filter(({ generation }) => generation > 1).length,
      byOutcome,
    },
    budget: { limitSeconds: Math.ceil(spentSeconds * 1.4), spentSeconds, reservedSeconds: 0 },
    throttledUntil: null,
    blocked: null,
    outcome: completed === items.length ? 'completed' : 'partly_failed',
    shortfall: null,
    error: null,
    apiCalls: items.length * 9 + 12,
    durationMs,
    resultsRef: 'fanout/nightly-review/results.jsonl',
    left: [],
    leftMore: 0,
    leftSandboxIds: [],
  };
}

function pickOutcome(chance: number): ItemOutcome {
  if (chance < 0.88) return 'completed';
  if (chance < 0.93) return 'prompt_failed';
  if (chance < 0.95) return 'sandbox_failed';
  if (chance < 0.97) return 'deadline_exceeded';
  if (chance < 0.98) return 'sandbox_cancelled';
  return chance < 0.99 ? 'rejected' : 'not_started';
}

function errorOf(outcome: ItemOutcome): NonNullable<ItemResult['job']>['error'] {
  return {
    code: outcome,
    message: `It ended as ${outcome.replaceAll('_', ' ')}.`,
    status: null,
    requestId: null,
    details: null,
  };
}

function at(ms: number): string {
  return new Date(startMs + Math.round(ms)).toISOString();
}

/** A small generator of numbers from 0 to 1, so that a batch is the same every time. */
function seeded(seed: number): () => number {
  let state = seed + 0x9e3779b9;
  return () => {
    state = Math.imul(state ^ (state >>> 15), 0x85ebca6b) + 0x6d2b79f5;
    return ((state ^ (state >>> 13)) >>> 0) / 4_294_967_296;
  };
}
