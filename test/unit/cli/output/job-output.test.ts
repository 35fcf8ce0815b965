import { describe, expect, it } from 'vitest';
import type { CliIo } from '../../../../src/cli/io.js';
import { finish } from '../../../../src/cli/output/finish.js';
import { degradedText } from '../../../../src/cli/output/job-text.js';
import { reattachHint } from '../../../../src/cli/stops/stop-text.js';
import { collectedFile } from '../fanout/samples.js';
import { jobResult, promptResult } from './sample-job.js';

async function finished(
  end: Parameters<typeof finish>[0],
  options: Partial<Parameters<typeof finish>[2]> = {},
  isTTY = { stdout: false, stderr: false },
): Promise<{ exitCode: number; stdout: string; stderr: string }> {
  let stdout = '';
  let stderr = '';
  const io: Pick<CliIo, 'stdout' | 'stderr'> = {
    stdout: { write: (text) => (stdout += text), isTTY: isTTY.stdout },
    stderr: { write: (text) => (stderr += text), isTTY: isTTY.stderr },
  };
  const readWhole = () => Promise.reject(new Error('no store'));
  const exitCode = await finish(end, io, { jobId: 'j', json: false, quiet: false, files: [], readWhole, ...options });
  return { exitCode, stdout, stderr };
}

const missingFile = collectedFile('a', null);

describe('the output of a finished job', () => {
  it('names its workflow and the page of it, and in JSON only if asked to', async () => {
    const links = { workflowId: 'sf-d-j', uiUrl: 'http://127.0.0.1:8/namespaces/default/workflows/sf-d-j' };
    const end = { kind: 'ended', result: jobResult } as const;
    expect((await finished(end, { links })).stderr).toContain(`  workflow sf-d-j · ${links.uiUrl}\n`);
    expect(JSON.parse((await finished(end, { links, json: true })).stdout)).not.toHaveProperty('uiUrl');
    expect(JSON.parse((await finished(end, { links, json: true, linksInJson: true })).stdout)).toMatchObject(links);
  });

  it('is the last answer of one conversation, or all answers with --each-conversation', async () => {
    const prompts = [promptResult({ result: 'first' }), promptResult({ result: 'second\n' })];
    expect((await finished({ kind: 'ended', result: { ...jobResult, prompts } })).stdout).toBe('second\n');
    const apart = prompts.map((one, index) => ({ ...one, conversationId: `c${index}` }));
    expect((await finished({ kind: 'ended', result: { ...jobResult, prompts: apart } })).stdout).toBe(
      'first\n\nsecond\n',
    );
  });

  it('is not printed again on a terminal that has shown it', async () => {
    const end = { kind: 'ended', result: jobResult } as const;
    const terminals = { stdout: true, stderr: true };
    const hasShown = (answer: string) => answer === 'answer';
    expect((await finished(end, { hasShown }, terminals)).stdout).toBe('');
    expect((await finished(end, { hasShown: () => false }, terminals)).stdout).toBe('answer\n');
    expect((await finished(end, { hasShown }, { stdout: false, stderr: true })).stdout).toBe('answer\n');
    expect((await finished(end, { hasShown }, { stdout: true, stderr: false })).stdout).toBe('answer\n');
  });

  it('has a line for each round of checks, and an exit code of its own if they did not pass', async () => {
    const failed = { command: 'npm test\u001b[2J', exitCode: 1, output: 'one failed', durationMs: 12_000 };
    const rounds = [
      { round: 0, passed: true, promptIndex: null, runs: [{ ...failed, exitCode: 0 }] },
      { round: 1, passed: false, promptIndex: 1, runs: [failed, { ...failed, command: 'lint', exitCode: null }] },
      { round: 2, passed: false, promptIndex: null, runs: [failed] },
    ];
    const result = { ...jobResult, outcome: 'unverified', rounds } as const;
    const { exitCode, stderr } = await finished({ kind: 'ended', result });
    expect(exitCode).toBe(5);
    expect(stderr).toContain('  before the first prompt: every check passes already\n');
    expect(stderr).toMatch(
      /^ {2}round 1: failed: npm test.* \(exit code 1, 12 s\), lint \(no exit code, 12 s\); told the agent as prompt 2$/m,
    );
    expect(stderr).not.toContain('\u001b');
    const left = [
      { kind: 'sandbox', sandboxId: 'bx_2345abcd', sandboxName: 'n', conversationId: null, why: 'x' },
    ] as const;
    expect((await finished({ kind: 'ended', result: { ...result, left } })).exitCode).toBe(1);
    const { stdout } = await finished({ kind: 'ended', result }, { json: true });
    expect(JSON.parse(stdout).rounds).toEqual(rounds);
    expect(JSON.parse((await finished({ kind: 'ended', result: jobResult }, { json: true })).stdout).rounds).toEqual(
      [],
    );
  });

  it('has a truncated answer read from the store, or printed truncated if the store is unreachable', async () => {
    const end = {
      kind: 'ended',
      result: { ...jobResult, prompts: [promptResult({ result: 'cut', resultRef: 'r' })] },
    } as const;
    expect((await finished(end, { readWhole: async () => Buffer.from('whole') })).stdout).toBe('whole\n');
    expect((await finished(end)).stdout).toBe('cut\n');
  });

  it('names the command for a follow-up, unless there is no sandbox or no single conversation', async () => {
    const next = async (change: Partial<typeof jobResult>) =>
      /next: .*/.exec((await finished({ kind: 'ended', result: { ...jobResult, ...change } })).stderr)?.[0];
    expect(await next({})).toBe('next: sandflow jobs logs j · sandflow continue j "…"');
    const deletion = { operationId: null, status: 'completed', error: null };
    const apart = ['a', 'b'].map((conversationId) => promptResult({ conversationId }));
    for (const change of [{ deletion }, { prompts: apart }, { prompts: [promptResult({ conversationId: null })] }]) {
      expect(await next(change)).toBe('next: sandflow jobs logs j');
    }
  });

  it('says why the job failed before it names the files', async () => {
    const files = [{ ...missingFile, localPath: null }];
    const error = { code: 'prompt_failed', message: 'exit 7', status: null, requestId: null, details: null };
    const result = { ...jobResult, outcome: 'prompt_failed', error, files: [missingFile] } as const;
    const { stderr } = await finished({ kind: 'ended', result }, { files });
    expect(stderr.split('\n').slice(0, 3)).toEqual([
      expect.stringMatching(/^prompt_failed · job j/),
      '  prompt_failed: exit 7',
      '  a: not there',
    ]);
  });

  it.each([
    ['prompt_failed', 'agent', 1, 'prompt_failed (agent) · job j'],
    ['sandbox_failed', 'machine', 6, 'sandbox_failed (machine) · job j'],
    ['rejected', 'service', 6, 'rejected (service) · job j'],
    ['rejected', 'sandflow', 6, 'rejected (sandflow) · job j'],
    ['rejected', 'setup', 1, 'rejected (setup) · job j'],
    ['rejected', 'provider', 1, 'rejected (provider) · job j'],
    ['cancelled', 'cancelled', 1, 'cancelled · job j'],
    ['prompt_failed', undefined, 1, 'prompt_failed · job j'],
  ] as const)('tells whose failure %s is: %s, with exit code %i', async (outcome, failureClass, code, text) => {
    const result = { ...jobResult, outcome, ...(failureClass && { failureClass }) };
    const { exitCode, stdout, stderr } = await finished({ kind: 'ended', result }, { json: true });
    expect(exitCode).toBe(code);
    expect(stderr).toContain(text);
    expect(JSON.parse(stdout)).toMatchObject({ failureClass: failureClass ?? null });
  });

  it.each([
    ['sandbox_error', [], 6],
    ['sandbox_error', [{ kind: 'sandbox', sandboxId: 'bx_1', sandboxName: null, conversationId: null, why: '?' }], 1],
    ['sandbox_stopped', [], 1],
    ['sandbox_gone', [], 1],
    ['outcome_unknown', [], 1],
  ] as const)('exits after %s of a machine, with %j left behind, with %i', async (code, left, exitCode) => {
    const error = { code, message: 'It failed', status: null, requestId: null, details: null };
    const result = { ...jobResult, outcome: 'sandbox_failed', failureClass: 'machine', error, left } as const;
    expect((await finished({ kind: 'ended', result }, {})).exitCode).toBe(exitCode);
  });

  it('names with the follow-up the files that may still be got, but none that was never written', async () => {
    const stopped = { ...missingFile, error: 'The sandbox was stopped while the job ran', localPath: null };
    const files = [stopped, { ...stopped, path: 'never', missing: true as const }, { ...stopped, path: 'c', ref: 'r' }];
    const { stderr } = await finished(
      { kind: 'ended', result: { ...jobResult, outcome: 'sandbox_failed' } },
      { files },
    );
    expect(stderr).toContain('sandflow continue j "…" --get a\n');
  });

  it('says what was kept of the work', async () => {
    expect((await finished({ kind: 'ended', result: jobResult })).stderr).toContain('nothing saved');
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
    const { exitCode, stderr } = await finished({ kind: 'ended', result: { ...jobResult, outcome } }, { quiet: true });
    expect(exitCode).toBe(1);
    expect(stderr).toContain(outcome);
  });

  it('exits with 1 if a file of a completed job could not be collected', async () => {
    const file = { ...missingFile, localPath: null };
    const { exitCode, stdout } = await finished({ kind: 'ended', result: jobResult }, { json: true, files: [file] });
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ outcome: 'completed', error: { code: 'files_missing' } });
    const lacking = await finished(
      { kind: 'ended', result: { ...jobResult, files: [missingFile] } },
      { files: [file] },
    );
    expect(lacking.stderr).toMatch(/^completed, 1 file missing · job j/);
  });

  it('exits with 1 if the answer to a prompt of a completed job could not be read, and says what was not', async () => {
    const note = 'This could not be read: 3 rows of the history of the sandbox.';
    const end = (result: string | null) =>
      ({ kind: 'ended', result: { ...jobResult, prompts: [promptResult({ result, note })] } }) as const;
    const { exitCode, stderr } = await finished(end(null));
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^completed, 1 answer missing · job j/);
    expect(stderr).toContain(`  prompt completed: ${note}\n`);
    expect(JSON.parse((await finished(end(null), { json: true })).stdout).prompts).toMatchObject([{ note }]);
    expect((await finished(end('answer'))).exitCode).toBe(0);
  });

  describe('what a job left behind', () => {
    const left = {
      kind: 'sandbox',
      sandboxId: 'bx_2345abcd',
      sandboxName: 'sf-d-j-x-main-1',
      conversationId: null,
      why: 'Its deletion failed: no disk',
    } as const;

    it('is reported even if quiet, and makes a completed job exit with 1', async () => {
      const end = { kind: 'ended', result: { ...jobResult, left: [left] } } as const;
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
      const all = { ...jobResult, outcome: 'deadline_exceeded', left: [named, agent] } as const;
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
  ])('suggests no command with %j in it, which a person would paste into a shell', async (text) => {
    const one = { kind: 'sandbox', sandboxId: text, sandboxName: text, conversationId: null, why: 'no' } as const;
    const file = { ...{ size: 1, sha256: null, error: null }, path: text, ref: 'r', partial: false, unchanged: null };
    const hostile = {
      ...jobResult,
      left: [one, { ...one, kind: 'prompt' }, { ...one, sandboxId: null }],
      files: [file],
    } as const;
    const files = hostile.files.map((collected) => ({ ...collected, localPath: null }));
    const { stderr } = await finished({ kind: 'ended', result: hostile }, { files });
    const degraded = { sandboxId: text, reason: null, since: null };
    const shown = `${stderr}\n${degradedText(degraded)}\n${reattachHint([{ sandboxId: text, error: null }], { requestId: 'r', deadlineMs: 1, alertAfterMs: null })}`;
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

  it('includes whether a file is partial or unchanged', async () => {
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
    const { stderr } = await finished({ kind: 'ended', result: { ...jobResult, outcome: 'cancelled' } }, { files });
    expect(stderr).toMatch(/^ {2}a → b \(partial: collected before/m);
    expect(stderr).toMatch(/^ {2}c → b \(unchanged: the job did not change it\)$/m);
  });

  it('includes a missing file, even if quiet', async () => {
    const file = { path: 'a', size: null, sha256: null, ref: null, error: 'not there', localPath: null };
    const files = [{ ...file, partial: false, unchanged: null }];
    const { stderr } = await finished({ kind: 'ended', result: jobResult }, { quiet: true, files });
    // Once, and without the code of JSON.
    expect(stderr.split('\n').filter((line) => line.includes('not there'))).toEqual(['  a: not there']);
  });

  it('says what a saved folder lacks, after its place, with the exit code 1', async () => {
    const file = {
      path: 'out/',
      size: 9,
      sha256: null,
      ref: 'r',
      error: 'It was saved without x',
      localPath: '/d/out',
    };
    const files = [{ ...file, partial: false, unchanged: null }];
    const { stderr, exitCode } = await finished({ kind: 'ended', result: jobResult }, { files });
    expect(exitCode).toBe(1);
    expect(stderr).toContain('  out/ → /d/out: It was saved without x\n');
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

describe('client rows: a degraded sandbox of a finished job', () => {
  const degraded = { sandboxId: 'bx_2345abcd', reason: 'A firewall\nrule.', since: '2026-01-01T00:00:00.000Z' };

  it('is named in the summary of a job that has completed', async () => {
    const { stderr, exitCode } = await finished({ kind: 'ended', result: { ...jobResult, degraded } });
    expect(exitCode).toBe(0);
    const why = 'since 2026-01-01T00:00:00.000Z: A firewall rule.';
    expect(stderr).toContain(`degraded: the sandbox bx_2345abcd was not fully reachable ${why}\n`);
  });
});
