import { describe, expect, it } from 'vitest';
import { nextAfterBatch, nextWhileBatchRuns } from '../../../../src/cli/fanout/next-commands.js';
import { createBatchView } from '../../../../src/cli/fanout/progress/batch-view.js';
import type { DownloadedResults } from '../../../../src/cli/fanout/results/download-results.js';
import { finishFanout, leaveFanout } from '../../../../src/cli/fanout/results/finish-fanout.js';
import type { OutputStream } from '../../../../src/cli/io.js';
import { createTerminal } from '../../../../src/cli/output/terminal.js';
import type { FanoutProgress } from '../../../../src/protocol/fanout/fanout-progress.js';
import type { FanoutResult } from '../../../../src/protocol/fanout/fanout-result.js';
import { batchResult } from './samples.js';

const home: DownloadedResults = {
  resultsFile: 'fanout-b/results.jsonl',
  reportFile: 'fanout-b/report.html',
  filesFolder: 'fanout-b/files',
  files: 2,
  forks: 3,
  earlier: 0,
  waits: { byWebhook: 0, bySafetyPoll: 0 },
  failures: [],
  problems: [],
  left: [],
};

function streams() {
  const written = { stdout: '', stderr: '' };
  const to = (name: 'stdout' | 'stderr'): OutputStream => ({ write: (text) => (written[name] += text) });
  return { io: { stdout: to('stdout'), stderr: to('stderr') }, written };
}

function finished(result: FanoutResult, options: Partial<Parameters<typeof finishFanout>[3]> = {}, brought = home) {
  const { io, written } = streams();
  const exitCode = finishFanout(result, brought, io, { json: false, quiet: false, dollarsPerSecond: null, ...options });
  return { exitCode, ...written };
}

const partly = batchResult({
  outcome: 'partly_failed',
  counts: {
    items: 120,
    queued: 0,
    running: 0,
    completed: 100,
    failed: 18,
    retried: 4,
    byOutcome: { completed: 100, prompt_failed: 18, not_started: 2 },
  },
  leftSandboxIds: ['bx_2345abcd'],
});

describe('the output of a finished batch', () => {
  it('names its workflow and the page of it', () => {
    const links = { workflowId: 'sf-d/b', uiUrl: 'http://127.0.0.1:8/namespaces/default/workflows/sf-d%2Fb' };
    expect(finished(batchResult(), { links }).stderr).toContain(`  workflow sf-d/b · ${links.uiUrl}\n`);
    expect(JSON.parse(finished(batchResult(), { links, json: true }).stdout)).not.toHaveProperty('uiUrl');
  });

  it('says why items failed: the most frequent reasons, each with an item', () => {
    const group = (message: string, ...itemIds: string[]) => ({
      message,
      items: itemIds.map((itemId) => ({
        itemId,
        outcome: 'rejected',
        code: 'bad_request',
        message,
        failureClass: 'setup',
      })),
    });
    const failures = [group('no such model', 'a', 'b'), group('exit code 3', 'c'), group('x', 'd'), group('y', 'e')];
    const { stderr } = finished(partly, {}, { ...home, failures });
    expect(stderr).toContain('  failed   2 items such as a: no such model\n  failed   c: exit code 3\n');
    expect(stderr).toContain('  … and 1 more reason, in the report\n');
  });

  it('says how it ended, how fast it was, and where everything is', () => {
    const { exitCode, stdout, stderr } = finished(batchResult(), { dollarsPerSecond: 1 / 36_000 });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'fanout-b/results.jsonl\n' });
    expect(stderr).toBe(
      [
        'completed · batch b · 3 items in 1 m · 3.0 forks a minute · machine time 15 s · $0.0004 · 15 API calls',
        '  3 completed',
        '  results  fanout-b/results.jsonl',
        '  report   fanout-b/report.html',
        '  files    fanout-b/files (2)',
        '  next: sandflow fanout results b',
        '',
      ].join('\n'),
    );
  });

  it('keeps the newest run of a resumed batch apart from all runs', () => {
    const { stderr } = finished(batchResult(), { dollarsPerSecond: 1 / 36_000 }, { ...home, forks: 1, earlier: 2 });
    expect(stderr.split('\n').slice(0, 3)).toEqual([
      'completed · batch b · 3 items · 2 of them from earlier runs',
      '  this run: 1 item in 1 m · 1.0 forks a minute · 15 API calls',
      '  all runs: machine time 15 s · $0.0004',
    ]);
  });

  it('exits with 1 and names what is left of a completed batch, even if quiet', () => {
    const text =
      'issue-1: left behind: the sandbox bx_2345abcd may still be running. Why. Stop it: sandflow stop bx_2345abcd --wait';
    const { exitCode, stderr } = finished(batchResult(), { quiet: true }, { ...home, left: [text] });
    expect(exitCode).toBe(1);
    expect(stderr).toContain(text);
    const lacking = finished(batchResult({ shortfall: '1 left behind', leftSandboxIds: ['bx_2345abcd'] }));
    expect(lacking).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/^completed, 1 left behind · batch b/),
    });
    const { stdout } = finished(batchResult(), { json: true }, { ...home, left: [text] });
    expect(JSON.parse(stdout)).toMatchObject({ outcome: 'completed', left: [text] });
  });

  it('counts every outcome, names remaining forks, and says how to continue, even if quiet', () => {
    const { exitCode, stderr } = finished(partly, { quiet: true });
    expect(exitCode).toBe(1);
    expect(stderr).toContain('  100 completed\n   18 prompt_failed\n    2 not_started\n  4 retried\n');
    expect(stderr).toContain('not cleaned up: bx_2345abcd');
    expect(stderr).toContain('  next: sandflow fanout results b\n        sandflow fanout resume b\n');
  });

  it('says whose failures they are, and exits with 6 if all are of others and nothing is left', () => {
    const counts = { ...partly.counts, completed: 102, byOutcome: { completed: 102, sandbox_failed: 18 } };
    const of = (byClass: FanoutResult['counts']['byClass'], change: Partial<FanoutResult> = {}, brought = home) =>
      finished(
        batchResult({ ...partly, leftSandboxIds: [], counts: { ...counts, ...(byClass && { byClass }) }, ...change }),
        {},
        brought,
      );
    expect(of({ machine: 2, agent: 16 })).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('  whose failure: 16 agent, 2 machine\n'),
    });
    expect(of({ machine: 10, service: 5, sandflow: 3 }).exitCode).toBe(6);
    // A failure of an earlier version has no class.
    expect(of({ machine: 17 }).exitCode).toBe(1);
    const byMachine = { machine: 18 };
    const error = { code: 'clean_up_unfinished', message: 'Look', status: null, requestId: null, details: null };
    expect(of(byMachine, { outcome: 'deadline_exceeded' }).exitCode).toBe(1);
    expect(of(byMachine, { shortfall: '1 left behind' }).exitCode).toBe(1);
    expect(of(byMachine, { error }).exitCode).toBe(1);
    // A person cancelled two of the items.
    expect(of(byMachine, { counts: { ...partly.counts, byClass: byMachine } }).exitCode).toBe(1);
    expect(of(byMachine, {}, { ...home, left: ['1: left behind'] }).exitCode).toBe(1);
    expect(of(byMachine, {}, { ...home, problems: ['1: x: gone'] }).exitCode).toBe(1);
    expect(of(undefined)).toMatchObject({ exitCode: 1, stderr: expect.not.stringContaining('whose failure') });
  });

  it('exits with 1 if a file could not be collected, and prints nothing if quiet and successful', () => {
    expect(finished(batchResult(), {}, { ...home, problems: ['1: x: gone'] })).toMatchObject({ exitCode: 1 });
    const many = Array.from({ length: 30 }, (_, index) => `${index}: x: gone`);
    expect(finished(batchResult(), {}, { ...home, problems: many }).stderr).toContain('… and 20 more files\n');
    expect(finished(batchResult(), { quiet: true })).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('prints the whole result as JSON, with the paths of the files', () => {
    const { stdout } = finished(partly, { json: true });
    expect(JSON.parse(stdout)).toMatchObject({
      batchId: 'b',
      outcome: 'partly_failed',
      counts: { completed: 100 },
      resultsFile: 'fanout-b/results.jsonl',
      reportFile: 'fanout-b/report.html',
    });
  });

  it.each([
    ['detached', 130],
    ['deadline', 4],
  ] as const)('%s exits with %i and says how to return', (kind, code) => {
    const { io, written } = streams();
    expect(leaveFanout(kind, 'b', io, { json: true })).toBe(code);
    expect(written.stderr).toContain('sandflow fanout watch b');
    expect(JSON.parse(written.stdout)).toMatchObject({ batchId: 'b', outcome: null });
  });
});

describe('what to do next with a batch', () => {
  it.each([
    ['completed', 3, undefined, ['next: sandflow fanout results b']],
    ['partly_failed', 2, 'bad', ['next: sandflow fanout logs b bad', '      sandflow fanout resume b']],
    ['failed_fast', 2, '$(id)', ['next: sandflow fanout logs b ITEM', '      sandflow fanout resume b']],
    ['cancelled', 0, undefined, ['next: sandflow fanout results b', '      sandflow fanout resume b']],
    // With --first, the rest was not wanted.
    ['completed', 1, 'bad', ['next: sandflow fanout logs b bad']],
  ] as const)('after %s with %i completed', (outcome, completed, failed, next) => {
    const counts = { ...batchResult().counts, items: 3, completed };
    expect(nextAfterBatch({ batchId: 'b', outcome, error: null, counts }, failed)).toEqual(next);
  });

  it('saves the files at the same places', () => {
    const get = ['kept.md', 'out/a.md:a.md', 'x y:$(id)'];
    const same = ' --get out/a.md:a.md --get REMOTE:LOCAL';
    expect(nextWhileBatchRuns('b', get)[0]).toBe(`next: sandflow fanout watch b${same}`);
    const failed = { ...batchResult(), outcome: 'cancelled', counts: { ...batchResult().counts, items: 9 } } as const;
    expect(nextAfterBatch(failed, undefined, get)[1]).toBe(`      sandflow fanout resume b${same}`);
    const { io, written } = streams();
    leaveFanout('detached', 'b', io, { json: false, get });
    expect(written.stderr).toContain(`reattach:  sandflow fanout watch b${same}\n`);
  });
});

describe('the output of a watched batch', () => {
  const running = (completed: number, change: Partial<FanoutProgress> = {}): FanoutProgress => {
    const counts = { items: 10, queued: 10 - completed, running: 0, completed, failed: 0, retried: 0, byOutcome: {} };
    return { ...batchResult(), phase: 'running', outcome: null, counts, ...change };
  };

  it('is a line in a pipe after a change, at most every five seconds, and at once for a new phase', () => {
    const { io, written } = streams();
    let nowMs = 0;
    const view = createBatchView({ stream: io.stderr, quiet: false, now: () => nowMs });
    view.step('sending items');
    for (const [second, completed] of [0, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3].entries()) {
      nowMs = second * 1_000;
      view.show(running(completed));
    }
    view.show(running(3, { phase: 'ending' }));
    view.close();
    expect(written.stderr.split('\n').map((line) => line.split(' · ').slice(0, 2))).toEqual([
      ['running', '0 of 10'],
      ['running', '2 of 10'],
      ['running', '3 of 10'],
      ['ending the remaining items', '3 of 10'],
      [''],
    ]);
  });

  it('says once why it waits and what failed; if quiet, only notices appear', () => {
    const { io, written } = streams();
    const blocked = { message: 'the limit\nis reached', since: 'now' };
    const failure = { index: 6, itemId: '7', phase: 'prompt_failed', since: null, text: 'exit code 3' };
    const view = createBatchView({ stream: io.stderr, quiet: false });
    view.show(running(1, { blocked }));
    view.show(running(1, { blocked }));
    view.failed({ fresh: [failure], all: [failure] });
    expect(written.stderr.match(/The batch is blocked: the limit is reached/g)).toHaveLength(1);
    expect(written.stderr).toContain('failed 7: prompt_failed, exit code 3\n');
    const quiet = streams();
    const silent = createBatchView({ stream: quiet.io.stderr, quiet: true });
    silent.show(running(1));
    silent.failed({ fresh: [failure], all: [failure] });
    silent.notice('detail', 'detail');
    silent.notice('trouble');
    expect(quiet.written.stderr).toBe('trouble\n');
    expect(silent.looks).toBe(false);
  });

  it('is a board in a terminal, below the messages, and disappears at the end', () => {
    let text = '';
    const stream = {
      isTTY: true,
      columns: 60,
      rows: 20,
      hasColors: () => false,
      write: (part: unknown) => (text += part),
    };
    const view = createBatchView({ stream: createTerminal(stream), quiet: false });
    view.show(running(5));
    view.notice('said');
    view.close();
    expect(text).toContain('50 % · 5 of 10');
    expect(text.endsWith('\u001b[J')).toBe(true);
  });
});
