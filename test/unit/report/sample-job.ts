/** The report of a realistic job. */

import type { JobResult } from '../../../src/protocol/job/job-result.js';
import type { JobReportData } from '../../../src/report/index.js';
import { answerOf, topics } from './sample-answers.js';

const startMs = Date.parse('2026-03-01T09:00:00Z');

function at(seconds: number): string {
  return new Date(startMs + seconds * 1_000).toISOString();
}

const prompts: JobResult['prompts'] = [0, 1].map((index) => ({
  prompt: topics[index] ?? '',
  promptRef: null,
  promptId: `prm_${index}`,
  conversationId: 'cnv_1',
  status: 'completed',
  result: answerOf(topics[index] ?? '', 'small', index),
  resultRef: null,
  error: null,
  queuedAt: at(12 + 60 * index),
  startedAt: at(13 + 60 * index),
  endedAt: at(70 + 50 * index),
}));

const wake = (
  seconds: number,
  waitedFor: string,
  by: JobResult['wakes'][number]['by'],
): JobResult['wakes'][number] => ({
  waitedFor,
  by,
  event: by === 'webhook' ? `sandbox.${waitedFor === 'usable' ? 'ready' : 'archived'}` : null,
  lagMs: by === 'webhook' ? 140 : null,
  waitedMs: 8_000,
  at: at(seconds),
});

/** A job that completed and stopped its sandbox. @param changes replace parts of it */
export function sampleJob(changes: Partial<JobReportData> = {}): JobReportData {
  return {
    jobId: 'nightly-42',
    outcome: 'completed',
    isRunning: false,
    startedAt: at(0),
    endedAt: at(134),
    times: {
      startedAt: at(0),
      createdAt: at(1.2),
      usableAt: at(9),
      promptedAt: at(12),
      answeredAt: at(120),
      endingAt: at(121),
      endedAt: at(133),
    },
    machineType: 'large',
    deadlineAt: at(3_600),
    blocked: null,
    doing: [],
    sandboxId: 'sbx_3k9f2',
    sandboxName: 'sf-main-nightly-42-0123456789ab-main-1',
    prompts,
    steps: [],
    setup: null,
    stop: { stopId: 'stp_1', status: 'completed', kept: 'saved', error: null },
    deletion: null,
    files: [
      file('out/notes.md', 'ref-notes'),
      file('out/patch.diff', 'ref-patch'),
      { ...file('out/log.txt', null), size: null, error: 'no such file' },
    ],
    copies: new Map([['out/notes.md', 'files/out/notes.md']]),
    previews: new Map([['ref-notes', '# Notes\n\nNothing here was checked by hand.\n']]),
    left: [],
    wakes: [wake(9, 'usable', 'webhook'), wake(126, 'archived', 'safety_poll'), wake(133, 'archived', 'webhook')],
    wakeCount: 3,
    apiCalls: 14,
    error: null,
    generatedAt: at(140),
    ...changes,
  };
}

function file(path: string, ref: string | null): JobResult['files'][number] {
  return { path, ref, size: 4_812, sha256: null, error: null, partial: false, unchanged: null };
}
