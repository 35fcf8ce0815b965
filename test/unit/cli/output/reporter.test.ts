import { describe, expect, it, vi } from 'vitest';
import type { OutputStream } from '../../../../src/cli/io.js';
import { createReporter } from '../../../../src/cli/output/reporter.js';
import { createTerminal } from '../../../../src/cli/output/terminal.js';
import { terminalSafe } from '../../../../src/cli/output/terminal-safe.js';
import type { TranscriptEntry } from '../../../../src/cli/output/transcript-entry.js';
import type { JobProgress } from '../../../../src/protocol/job/job-progress.js';
import { promptResult } from './sample-job.js';

describe('the progress of a job', () => {
  const progress: JobProgress = {
    jobId: 'j',
    phase: 'following',
    since: new Date().toISOString(),
    phases: [],
    blocked: null,
    sandboxId: 'bx_2345abcd',
    prompts: [promptResult({})],
    wakes: [{ waitedFor: 'usable', by: 'webhook', event: 'sandbox.ready', lagMs: 12, waitedMs: 400, at: '' }],
    apiCalls: 2,
    deadlineAt: '',
    outcome: null,
    times: {
      startedAt: '',
      createdAt: null,
      usableAt: null,
      promptedAt: null,
      answeredAt: null,
      endingAt: null,
      endedAt: null,
    },
    machineType: null,
  };
  const blocked = { reason: 'outcome_unknown', step: 'create', message: 'lost', since: 'now' } as const;

  function reporterOn(stream: Partial<OutputStream>, quiet = false) {
    let text = '';
    const reporter = createReporter({ stream: createTerminal({ ...stream, write: (part) => (text += part) }), quiet });
    return { reporter, text: () => text };
  }

  const [wake] = progress.wakes;
  if (!wake) throw new Error('a wake is missing');
  const entries: TranscriptEntry[] = [
    { kind: 'wake', wake, at: null },
    { kind: 'phase', phase: 'following', at: null },
    { kind: 'command', prompt: 1, command: 'date', exitCode: 0, output: 'noon', at: null },
    { kind: 'message', prompt: 1, text: 'noon', at: null },
    { kind: 'phase', phase: 'stopping', at: null },
  ];

  it('is one line per entry in a pipe, in order, and a message that repeats an output is left out', () => {
    const { reporter, text } = reporterOn({});
    reporter.entries(entries, progress);
    reporter.progress(progress);
    reporter.close();
    expect(text().split('\n')).toEqual([
      'woken by the sandbox.ready webhook after 400 ms (waiting for usable, 12 ms old)',
      'the agent is working · bx_2345abcd …',
      'agent | $ date',
      'agent | noon',
      'stopping the sandbox · bx_2345abcd …',
      '',
    ]);
  });

  it('knows which answers it has shown: those whose lines the agent has said in order', () => {
    const { reporter } = reporterOn({});
    const said: TranscriptEntry[] = [
      { kind: 'command', prompt: 1, command: 'date', exitCode: 0, output: 'noon\n', at: null },
      { kind: 'command', prompt: 1, command: 'id', exitCode: 0, output: 'me\n\nyou', at: null },
    ];
    reporter.entries(said, progress);
    expect(['noon\nme\n\nyou\n', 'you', '\u001b[31mnoon\u001b[0m'].map(reporter.hasShown)).toEqual([true, true, true]);
    expect(['you\nnoon', 'noon, cut', 'noon\nnoon'].map(reporter.hasShown)).toEqual([false, false, false]);
  });

  it('says once a minute in a pipe that a silent agent is alive', () => {
    vi.useFakeTimers();
    const { reporter, text } = reporterOn({});
    const since = new Date().toISOString();
    for (let second = 0; second < 150; second += 1) {
      reporter.progress({ ...progress, since });
      vi.advanceTimersByTime(1_000);
    }
    vi.useRealTimers();
    expect(text().match(/the agent is working · bx_2345abcd · \d m/g)).toHaveLength(2);
  });

  it('shows on a terminal what the command waits for, and removes it', () => {
    vi.useFakeTimers();
    const { reporter, text } = reporterOn({ isTTY: true, columns: 60, hasColors: () => false });
    reporter.busy?.('starting the worker');
    vi.advanceTimersByTime(3_000);
    reporter.busy?.(null);
    vi.useRealTimers();
    expect(text()).toContain('starting the worker · 3.0 s');
    expect(text().endsWith('\u001b[1G\u001b[J')).toBe(true);
  });

  it('is one redrawn line in a terminal, cut to its width, and removed at the end', () => {
    vi.useFakeTimers();
    const { reporter, text } = reporterOn({ isTTY: true, columns: 24, hasColors: () => false });
    reporter.progress(progress);
    vi.advanceTimersByTime(2_000);
    reporter.close();
    vi.useRealTimers();
    const lines = text().replaceAll('\u001b[1G', '').split('\u001b[J');
    expect(lines.filter((line) => line.startsWith('the agent is working'))).toHaveLength(3);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(24);
    expect(text().endsWith('\u001b[1G\u001b[J')).toBe(true);
  });

  it('shows once what a person can decide, even if quiet', () => {
    const { reporter, text } = reporterOn({}, true);
    reporter.progress({ ...progress, blocked });
    reporter.progress({ ...progress, blocked });
    expect(text().match(/jobs resolve j --sent --sandbox ID/g)).toHaveLength(1);
    expect(text()).not.toContain('the agent is working');
  });

  it('does not let an agent’s output move the cursor', () => {
    expect(terminalSafe('a\u001b[2Jb\r\nc\td')).toBe('a\ufffd[2Jb\nc\td');
  });
});

describe('client rows: a degraded sandbox', () => {
  const degraded = { sandboxId: 'bx_2345abcd', reason: 'A firewall\nrule.', since: '2026-01-01T00:00:00.000Z' };

  it('is a warning while the job runs, once', () => {
    let shown = '';
    const reporter = createReporter({ stream: { write: (text: string) => (shown += text) }, quiet: false });
    const progress = {
      jobId: 'j',
      phase: 'following',
      since: '2026-01-01T00:00:00.000Z',
      blocked: null,
      wakes: [],
      prompts: [],
    };
    const seen = { ...progress, sandboxId: 'bx_2345abcd', degraded } as unknown as JobProgress;
    reporter.progress(seen);
    reporter.progress(seen);
    reporter.close();
    expect(shown.match(/The sandbox is degraded since/g)).toHaveLength(1);
    expect(shown).toContain('Check: sandflow sandboxes show bx_2345abcd');
  });
});
