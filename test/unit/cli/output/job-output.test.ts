import { describe, expect, it, vi } from 'vitest';
import { judgeClock } from '../../../../src/cli/doctor/check-clock.js';
import type { CliIo, OutputStream } from '../../../../src/cli/io.js';
import { finish } from '../../../../src/cli/output/finish.js';
import { degradedText } from '../../../../src/cli/output/job-text.js';
import { createReporter } from '../../../../src/cli/output/reporter.js';
import { createTerminal } from '../../../../src/cli/output/terminal.js';
import { terminalSafe } from '../../../../src/cli/output/terminal-safe.js';
import { reattachHint } from '../../../../src/cli/stops/stop-text.js';
import type { TranscriptEntry } from '../../../../src/cli/transcript/entry.js';
import type { JobProgress } from '../../../../workflows/job/progress.js';
import type { JobResult, PromptResult } from '../../../../workflows/job/result.js';

function prompt(change: Partial<PromptResult>): PromptResult {
  return {
    prompt: 'p',
    promptId: null,
    conversationId: 'one',
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

const result: JobResult = {
  jobId: 'j',
  outcome: 'completed',
  sandboxId: 'bx_2345abcd',
  sandboxName: 'n',
  prompts: [prompt({})],
  setup: null,
  stop: { stopId: 'stop_1', status: 'completed', kept: 'none', error: null },
  deletion: null,
  files: [],
  left: [],
  wakes: [],
  wakeCount: 0,
  apiCalls: 4,
  durationMs: 2_000,
  error: null,
};

async function finished(
  end: Parameters<typeof finish>[0],
  options: Partial<Parameters<typeof finish>[2]> = {},
): Promise<{ exitCode: number; stdout: string; stderr: string }> {
  let stdout = '';
  let stderr = '';
  const io: Pick<CliIo, 'stdout' | 'stderr'> = {
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
  };
  const readWhole = () => Promise.reject(new Error('no store'));
  const exitCode = await finish(end, io, { jobId: 'j', json: false, quiet: false, files: [], readWhole, ...options });
  return { exitCode, stdout, stderr };
}

describe('the output of a finished job', () => {
  it('names its workflow and the page of it, and in JSON only if asked to', async () => {
    const links = { workflowId: 'sf-d-j', uiUrl: 'http://127.0.0.1:8/namespaces/default/workflows/sf-d-j' };
    const end = { kind: 'ended', result } as const;
    expect((await finished(end, { links })).stderr).toContain(`  workflow sf-d-j · ${links.uiUrl}\n`);
    expect(JSON.parse((await finished(end, { links, json: true })).stdout)).not.toHaveProperty('uiUrl');
    expect(JSON.parse((await finished(end, { links, json: true, linksInJson: true })).stdout)).toMatchObject(links);
  });

  it('is the last answer of one conversation, or all answers with --each-conversation', async () => {
    const prompts = [prompt({ result: 'first' }), prompt({ result: 'second\n' })];
    expect((await finished({ kind: 'ended', result: { ...result, prompts } })).stdout).toBe('second\n');
    const apart = prompts.map((one, index) => ({ ...one, conversationId: `c${index}` }));
    expect((await finished({ kind: 'ended', result: { ...result, prompts: apart } })).stdout).toBe('first\n\nsecond\n');
  });

  it('has a truncated answer read from the store, or printed truncated if the store is unreachable', async () => {
    const end = { kind: 'ended', result: { ...result, prompts: [prompt({ result: 'cut', resultRef: 'r' })] } } as const;
    expect((await finished(end, { readWhole: async () => Buffer.from('whole') })).stdout).toBe('whole\n');
    expect((await finished(end)).stdout).toBe('cut\n');
  });

  it('says what was kept of the work', async () => {
    expect((await finished({ kind: 'ended', result })).stderr).toContain('nothing saved');
  });

  it.each([
    'prompt_failed',
    'sandbox_failed',
    'sandbox_cancelled',
    'rejected',
    'deadline_exceeded',
    'cancelled',
    'outcome_unknown',
  ] as const)('%s exits with 1 and is reported even if quiet', async (outcome) => {
    const { exitCode, stderr } = await finished({ kind: 'ended', result: { ...result, outcome } }, { quiet: true });
    expect(exitCode).toBe(1);
    expect(stderr).toContain(outcome);
  });

  it('exits with 1 if a file of a completed job could not be collected', async () => {
    const file = {
      path: 'a',
      size: 1,
      sha256: null,
      ref: null,
      error: 'not there',
      partial: false,
      unchanged: null,
      localPath: null,
    };
    const { exitCode, stdout } = await finished({ kind: 'ended', result }, { json: true, files: [file] });
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ outcome: 'completed', error: { code: 'files_missing' } });
  });

  describe('A14: what a job left behind', () => {
    const left = {
      kind: 'sandbox',
      sandboxId: 'bx_2345abcd',
      sandboxName: 'sf-d-j-x-main-1',
      conversationId: null,
      why: 'Its deletion failed: no disk',
    } as const;

    it('is reported even if quiet, and makes a completed job exit with 1', async () => {
      const end = { kind: 'ended', result: { ...result, left: [left] } } as const;
      const { exitCode, stdout, stderr } = await finished(end, { quiet: true });
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: 'answer\n' });
      expect(stderr).toContain(
        'left behind: the sandbox bx_2345abcd (sf-d-j-x-main-1) may still be running. Its deletion failed: no disk. Stop it: sandflow stop bx_2345abcd --wait',
      );
      const json = await finished(end, { json: true, quiet: true });
      expect(JSON.parse(json.stdout)).toMatchObject({ outcome: 'completed', left: [left] });
    });

    it('is reported for every outcome, with what to do', async () => {
      const named = { ...left, sandboxId: null, why: 'Its create got no answer.' };
      const agent = { ...left, kind: 'prompt', conversationId: 'conv_1', why: 'It was not interrupted' } as const;
      const all = { ...result, outcome: 'deadline_exceeded', left: [named, agent] } as const;
      const { exitCode, stderr } = await finished({ kind: 'ended', result: all });
      expect(exitCode).toBe(1);
      expect(stderr).toContain(
        'left behind: a sandbox "sf-d-j-x-main-1" may exist. Its create got no answer. Check: sandflow sandboxes --name "sf-d-j-x-main-1"',
      );
      expect(stderr).toContain(
        'left behind: an agent may still be working in bx_2345abcd (sf-d-j-x-main-1), conversation conv_1. It was not interrupted. Check: sandflow sandboxes show bx_2345abcd',
      );
    });
  });

  it.each([
    'bx_1; rm -rf ~',
    '$(reboot)',
    '`reboot`',
    '--all',
    '-rf',
    "'",
    '"; reboot #',
    'a b',
    'a\nb',
    'a|b',
    'x'.repeat(300),
  ])('C9: suggests no command with %j in it, which a person would paste into a shell', async (text) => {
    const one = { kind: 'sandbox', sandboxId: text, sandboxName: text, conversationId: null, why: 'no' } as const;
    const file = { ...{ size: 1, sha256: null, error: null }, path: text, ref: 'r', partial: false, unchanged: null };
    const hostile = {
      ...result,
      left: [one, { ...one, kind: 'prompt' }, { ...one, sandboxId: null }],
      files: [file],
    } as const;
    const files = hostile.files.map((collected) => ({ ...collected, localPath: null }));
    const { stderr } = await finished({ kind: 'ended', result: hostile }, { files });
    const degraded = { sandboxId: text, reason: null, since: null };
    const shown = `${stderr}\n${degradedText(degraded)}\n${reattachHint([text], { requestId: 'r', deadlineMs: 1, alertAfterMs: null })}`;
    const suggested = [...shown.matchAll(/(?:sandflow (?:stop|sandboxes)|--get) (.*)/g)].map(([, rest]) => rest);
    expect(suggested).toEqual([
      'PATH)',
      'SANDBOX --wait',
      'show SANDBOX',
      '--name "NAME"',
      'show SANDBOX',
      'SANDBOX --wait --request r',
    ]);
  });

  it('B13: includes whether a file is partial or unchanged', async () => {
    const file = {
      path: 'a',
      size: 1,
      sha256: null,
      ref: 'r',
      error: null,
      partial: true,
      unchanged: null,
      localPath: 'b',
    };
    const files = [file, { ...file, path: 'c', partial: false, unchanged: true }];
    const { stderr } = await finished({ kind: 'ended', result: { ...result, outcome: 'cancelled' } }, { files });
    expect(stderr).toMatch(/^ {2}a → b \(partial: collected before/m);
    expect(stderr).toMatch(/^ {2}c → b \(unchanged: the job did not change it\)$/m);
  });

  it('includes a missing file, even if quiet', async () => {
    const file = { path: 'a', size: null, sha256: null, ref: null, error: 'not there', localPath: null };
    const files = [{ ...file, partial: false, unchanged: null }];
    const { stderr } = await finished({ kind: 'ended', result }, { quiet: true, files });
    expect(stderr).toContain('a not there');
  });

  it.each([
    ['detached', 130],
    ['deadline', 4],
  ] as const)('%s exits with %i and says how to return', async (kind, code) => {
    const { exitCode, stdout, stderr } = await finished({ kind }, { json: true });
    expect(exitCode).toBe(code);
    expect(stderr).toContain('sandflow jobs watch j');
    expect(JSON.parse(stdout)).toMatchObject({ jobId: 'j', outcome: null });
  });
});

describe('the progress of a job', () => {
  const progress: JobProgress = {
    jobId: 'j',
    phase: 'following',
    since: new Date().toISOString(),
    blocked: null,
    sandboxId: 'bx_2345abcd',
    prompts: [prompt({})],
    wakes: [{ waitedFor: 'usable', by: 'webhook', event: 'sandbox.ready', lagMs: 12, waitedMs: 400, at: '' }],
    apiCalls: 2,
    deadlineAt: '',
    outcome: null,
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

  it('U11: is one line per entry in a pipe, in order, and a message that repeats an output is left out', () => {
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

  it('U11: says once a minute in a pipe that a silent agent is alive', () => {
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

  it('U21: shows on a terminal what the command waits for, and removes it', () => {
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
    const lines = text().split('\u001b[1G\u001b[J');
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

describe('the clock', () => {
  const service = Date.parse('2026-01-01T00:00:00Z') + 500;
  it.each([
    [0, 'ok'],
    [-20, 'ok'],
    [45, 'warning'],
    [-299, 'warning'],
    [300, 'failed'],
    [-4_000, 'failed'],
  ])('%i s away is %s', (seconds, status) => {
    expect(judgeClock('Thu, 01 Jan 2026 00:00:00 GMT', service + seconds * 1_000).status).toBe(status);
  });

  it('is not checked without a date', () => {
    expect(judgeClock(null, service).status).toBe('skipped');
    expect(judgeClock('yesterday', service).status).toBe('skipped');
  });
});

describe('client rows: a degraded sandbox', () => {
  const degraded = { sandboxId: 'bx_2345abcd', reason: 'A firewall\nrule.', since: '2026-01-01T00:00:00.000Z' };

  it('is named in the summary of a job that has completed', async () => {
    const { stderr, exitCode } = await finished({ kind: 'ended', result: { ...result, degraded } });
    expect(exitCode).toBe(0);
    const why = 'since 2026-01-01T00:00:00.000Z: A firewall rule.';
    expect(stderr).toContain(`degraded: the sandbox bx_2345abcd was not fully reachable ${why}\n`);
  });

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
