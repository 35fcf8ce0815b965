import { describe, expect, it } from 'vitest';
import { jobIdProblem } from '../../../../src/addresses/addresses.js';
import { generateJobId, jobInputOf } from '../../../../src/cli/run/job-input.js';
import type { RunOptions } from '../../../../src/cli/run/options.js';
import { parseJobInput } from '../../../../src/workflow-client/jobs/job-input.js';

const options: RunOptions = {
  prompt: [],
  promptText: [],
  label: [],
  put: [],
  get: [],
  snapshots: true,
  check: true,
  checks: [],
  after: [],
  always: [],
  checkBefore: true,
  monitoring: true,
  env: true,
};
const parts = {
  deployment: 'dev',
  jobId: 'one',
  prompts: ['a', 'b'],
  scripts: {},
  put: [],
  collect: [],
};

describe('the job that run requests', () => {
  it('has the checks, and refuses rounds without them or beside parallel conversations', () => {
    const checked = { ...options, checks: ['npm test'], rounds: '3', checkBefore: false };
    const input = jobInputOf(checked, { ...parts, scripts: { checkPrompt: 'Mend {{command}}: {{output}}' } });
    expect(input).toMatchObject({
      ...{ checks: ['npm test'], rounds: 3, checkBefore: false, checkPrompt: 'Mend {{command}}: {{output}}' },
    });
    expect(Object.keys(jobInputOf(options, parts)).filter((name) => /check|rounds/.test(name))).toEqual([]);
    const refused = (given: Partial<RunOptions>, checkPrompt?: string) =>
      expect(() =>
        jobInputOf(
          { ...checked, ...given },
          { ...parts, scripts: { ...(checkPrompt !== undefined && { checkPrompt }) } },
        ),
      );
    refused({ checks: [] }).toThrow('--rounds requires --check');
    refused({ eachConversation: true }).toThrow('Use --rounds or --each-conversation, not both.');
    refused({ rounds: '11' }).toThrow('--rounds');
    refused({ checks: Array.from({ length: 11 }, () => 'true') }).toThrow('--check');
    refused({}, 'Mend {{comand}}').toThrow('--check-prompt: may name only {{command}}, {{exitCode}}, {{output}}');
    const alone = { ...input, prompts: [], commands: ['true'] };
    expect(() => parseJobInput(alone)).toThrow('checks: need at least one prompt');
    expect(() => parseJobInput({ ...input, conversations: 'each' })).toThrow('rounds: must be 1');
    expect(() => parseJobInput({ ...input, checks: [] })).toThrow('rounds: needs checks');
  });

  it('has defaults: a new sandbox that is stopped at the end', () => {
    const input = parseJobInput(jobInputOf(options, parts));
    expect(input).toMatchObject({
      source: { kind: 'create' },
      conversations: 'one',
      end: 'stop',
      deadlineMs: 3_600_000,
      ttlSeconds: 1_800,
    });
    expect(JSON.parse(JSON.stringify(input.source))).toEqual({ kind: 'create', body: {} });
  });

  it('keeps an existing sandbox unless told otherwise', () => {
    const sandbox = 'bx_2345abcd';
    expect(jobInputOf({ ...options, sandbox }, parts)).toMatchObject({
      source: { kind: 'existing', sandboxId: sandbox },
      end: 'keep',
    });
    expect(jobInputOf({ ...options, sandbox, end: 'delete' }, parts).end).toBe('delete');
  });

  it('client rows: continues a conversation, forks a sandbox, and makes one that never stops itself', () => {
    const conversation = 'conv_0123456789abcdef01234567';
    const existing = jobInputOf({ ...options, sandbox: 'bx_2345abcd', conversation, ttl: 'none' }, parts);
    expect(parseJobInput(existing)).toMatchObject({ conversationId: conversation, ttlSeconds: null });
    const fork = jobInputOf(
      { ...options, fork: 'bx_2345abcd', type: 'small', snapshots: false, monitoring: false },
      parts,
    );
    expect(parseJobInput(fork)).toMatchObject({
      source: { kind: 'fork', sandboxId: 'bx_2345abcd', type: 'small', snapshots: false, monitoring: false },
      end: 'stop',
    });
  });

  it('gives every prompt the provider, model and effort', () => {
    const input = jobInputOf(
      { ...options, provider: 'codex', model: 'm', effort: 'high', eachConversation: true },
      parts,
    );
    expect(input.conversations).toBe('each');
    expect(input.prompts).toEqual(
      ['a', 'b'].map((prompt) => ({ prompt, provider: 'codex', model: 'm', reasoningEffort: 'high' })),
    );
  });

  it('passes on the options of a new sandbox', () => {
    const made = {
      ...options,
      from: 'base',
      environment: 'ci',
      type: 'large',
      snapshots: false,
      monitoring: false,
    } as const;
    expect(jobInputOf(made, { ...parts, scripts: { setup: 'make' } }).source).toEqual({
      kind: 'create',
      body: {
        environment: 'ci',
        from: 'base',
        setupScript: 'make',
        type: 'large',
        snapshots: false,
        monitoring: false,
      },
    });
  });

  it('leaves out the environment with --no-env', () => {
    expect(jobInputOf({ ...options, env: false }, parts).source).toEqual({ kind: 'create', body: { noEnv: true } });
  });

  it.each([
    [{ env: false, environment: 'x' }, 'Use --environment or --no-env, not both.'],
    [{ sandbox: 'bx_2345abcd', from: 'x' }, '--from cannot be used with --sandbox'],
    [{ sandbox: 'bx_2345abcd', env: false, environment: 'x' }, '--environment, --no-env cannot be used with --sandbox'],
    [{ sandbox: 'sandbox-1' }, '--sandbox: "sandbox-1" is not a sandbox id'],
    [{ sandbox: 'bx_2345abcd', fork: 'bx_2345abcd' }, 'Use --sandbox or --fork, not both'],
    [
      { fork: 'bx_2345abcd', from: 'x', env: false },
      '--from, --no-env cannot be used with --fork, which copies a sandbox',
    ],
    [{ fork: 'sandbox-1' }, '--fork: "sandbox-1" is not a sandbox id'],
    [{ conversation: 'conv_1' }, '--conversation requires --sandbox or --fork'],
    [
      { conversation: 'conv_1', sandbox: 'bx_2345abcd', eachConversation: true } as const,
      'Use --conversation or --each-conversation, not both',
    ],
    [{ ttl: '10' }, '--ttl: "10" is not a duration'],
    [{ ttl: '5ms' }, '--ttl must be at least 1s'],
    [{ deadline: 'soon' }, '--deadline: "soon" is not a duration'],
    [{ escalate: '30m: delete' }, 'permit that with --escalate-may-delete'],
    [{ notify: 'mail me' }, '--notify must be a URL'],
    [{ notify: 'command: mail me' }, '--notify must be a URL'],
  ])('refuses %j', (change, message) => {
    expect(() => jobInputOf({ ...options, ...change }, parts)).toThrow(message);
  });

  it('notifies a URL or a chat', () => {
    expect(jobInputOf({ ...options, notify: 'https://example.com/x' }, parts).notify).toEqual({
      url: 'https://example.com/x',
    });
    expect(jobInputOf({ ...options, notify: 'slack:https://example.com/x' }, parts).notify).toEqual({
      chat: 'slack',
      url: 'https://example.com/x',
    });
  });

  it('has a generated id within the grammar', () => {
    const id = generateJobId(new Date('2026-03-17T10:00:00Z'));
    expect(id).toMatch(/^0317-[a-z0-9]{6}$/);
    expect(jobIdProblem('twelvedigits', id)).toBeUndefined();
  });
});
