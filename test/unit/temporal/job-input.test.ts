import { describe, expect, it } from 'vitest';
import type { JobInput } from '../../../src/protocol/job/job-input.js';
import { createResultStore, type ResultStore } from '../../../src/result-store/index.js';
import { inputDigest } from '../../../src/workflow-client/input-digest.js';
import { checkJobSize, parseJobInput } from '../../../src/workflow-client/jobs/job-input.js';
import { keepJobTexts } from '../../../src/workflow-client/store-texts.js';

const input: JobInput = {
  deployment: 'dev',
  jobId: 'nightly-42',
  source: { kind: 'create', body: { type: 'small' } },
  waitFor: 'usable',
  put: [{ path: 'a.txt', content: { base64: 'YQ==' } }],
  prompts: [{ prompt: 'Say hello' }],
  conversations: 'one',
  collect: ['out.md'],
  end: 'stop',
  deadlineMs: 3_600_000,
  ttlSeconds: 1_800,
  onUnknownOutcome: 'wait',
  maxGenerations: 3,
};

function refusal(change: Record<string, unknown>): string {
  try {
    parseJobInput({ ...input, ...change });
  } catch (error) {
    expect(error).toMatchObject({ code: 'bad_job_input' });
    return (error as Error).message;
  }
  return 'accepted';
}

describe('the input of a job', () => {
  it('is accepted unchanged if it is valid', () => {
    expect(parseJobInput(input)).toEqual(input);
  });

  const open = { team: 'blue', limits: { cpus: 2, hosts: ['a'] } };

  it.each([
    ['a create', { source: { kind: 'create', body: { type: 'small', ...open } } }],
    ['a fork', { source: { kind: 'fork', sandboxId: 'bx_22222222', ...open } }],
    ['a prompt', { prompts: [{ prompt: 'Say hello', temperature: 0.5, ...open }] }],
  ])('keeps the fields of %s that the specification leaves open', (_, change) => {
    expect(parseJobInput({ ...input, ...change })).toEqual({ ...input, ...change });
  });

  it.each([
    [
      { source: { kind: 'create', body: { enviroment: 'x' } } },
      'source.body.enviroment: unknown field, did you mean environment?',
    ],
    [{ source: { kind: 'create', body: { noenv: true } } }, 'did you mean noEnv?'],
    [
      { source: { kind: 'create', body: { ttlSeconds: 5 } } },
      'source.body.ttlSeconds: sandflow sets this field itself',
    ],
    [{ source: { kind: 'fork', sandboxId: 'bx_22222222', snapshot: false } }, 'did you mean snapshots?'],
    [{ prompts: [{ prompt: 'x', modle: 'm' }] }, 'prompts.0.modle: unknown field, did you mean model?'],
    [{ prompts: [{ prompt: 'x', new: true }] }, 'prompts.0.new: sandflow sets this field itself'],
    [{ colect: ['a'] }, 'colect: unknown field'],
  ])('refuses %j', (change, why) => {
    expect(refusal(change)).toContain(why);
  });

  it('refuses an open field that is not JSON', () => {
    expect(refusal({ prompts: [{ prompt: 'x', when: 10n }] })).toContain('prompts.0.when');
  });

  it('has a patch of one repository, whose name no collected file may have', () => {
    expect(refusal({ collectDiff: 'app' })).toBe('accepted');
    expect(refusal({ collectDiff: '' })).toContain('collectDiff');
    expect(refusal({ collectDiff: '../app' })).toContain('collectDiff');
    expect(refusal({ collectDiff: '.', collect: ['./changes.patch'] })).toContain('this is the name of the patch');
    expect(refusal({ collect: ['changes.patch'] })).toBe('accepted');
  });

  it('own worker: needs few fields, and has the same digest as one that gives the defaults', () => {
    const short = parseJobInput({ deployment: 'dev', jobId: 'nightly-42', prompts: input.prompts });
    const long: JobInput = { ...input, source: { kind: 'create', body: {} }, put: [], collect: [] };
    expect(short).toEqual(long);
    expect(inputDigest(short)).toBe(inputDigest(parseJobInput(long)));
  });

  it('own worker: keeps an existing sandbox by default', () => {
    const { end: _, ...rest } = input;
    expect(parseJobInput({ ...rest, source: { kind: 'existing', sandboxId: 'bx_22222222' } }).end).toBe('keep');
    expect(parseJobInput({ ...rest, source: { kind: 'fork', sandboxId: 'bx_22222222' } }).end).toBe('stop');
  });

  it('client rows: continues a conversation only where there can be one', () => {
    const conversationId = 'conv_1';
    const existing = { kind: 'existing', sandboxId: 'bx_22222222' };
    expect(refusal({ conversationId, source: existing })).toBe('accepted');
    expect(refusal({ conversationId })).toContain('conversationId: a new sandbox has no conversation');
    expect(refusal({ conversationId, source: existing, conversations: 'each' })).toContain(
      'conversationId: prompts that run',
    );
  });

  it('needs no prompt if it has a command', () => {
    expect(refusal({ prompts: [], commands: ['npm ci'] })).toBe('accepted');
    expect(refusal({ prompts: [], commands: [] })).toContain('prompts: needs at least one prompt');
    expect(refusal({ commands: [''] })).toContain('commands.0: must not be empty');
  });

  it.each([
    [{ deployment: 'My-Team' }, 'deployment: the deployment "My-Team" must be 1 to 12 characters'],
    [{ jobId: 'Nightly_42' }, 'jobId: the job id "Nightly_42" must be lower-case letters and digits'],
    [{ jobId: 'x'.repeat(64) }, 'jobId: the job id'],
    [{ source: { kind: 'existing', sandboxId: 'bx_0' } }, 'source.sandboxId: must be bx_ and eight characters'],
    [{ source: { kind: 'create', body: { type: 'huge' } } }, 'source.body.type'],
    [{ prompts: [] }, 'prompts: needs at least one prompt'],
    [{ prompts: [{ prompt: ' \n' }] }, 'prompts.0.prompt: must not be empty'],
    [{ put: [{ path: '', content: { ref: 'r' } }] }, 'put.0.path: must not be empty'],
    [{ put: [{ path: 'a', content: { base64: 'not base64!' } }] }, 'put.0.content'],
    [{ collect: [''] }, 'collect.0: must not be empty'],
    [{ deadlineMs: 0 }, 'deadlineMs'],
    [{ ttlSeconds: 1.5 }, 'ttlSeconds'],
    [{ notify: {} }, 'notify.url'],
    [{ notify: { url: 'https://example.com', command: 'true' } }, 'command'],
    [{ notify: { url: 'file:///etc/passwd' } }, 'notify.url'],
    [{ surprise: true }, 'surprise'],
  ])('is refused with %j and the field', (change, message) => {
    expect(refusal(change)).toContain(message);
  });

  it.each([
    ['prompts', { prompts: Array.from({ length: 1_001 }, () => ({ prompt: 'x' })) }],
    ['put', { put: Array.from({ length: 1_001 }, () => ({ path: 'a', content: { ref: 'r' } })) }],
    ['collect', { collect: Array.from({ length: 1_001 }, () => 'a') }],
    ['collect.0', { collect: ['x'.repeat(5_000)] }],
    ['prompts.0.prompt', { prompts: [{ prompt: 'x'.repeat(40_000_000) }] }],
  ])('is refused if it is too large: %s', (field, change) => {
    expect(refusal(change)).toContain(`${field}: `);
  });

  it('is refused with every wrong field at once', () => {
    expect(refusal({ ttlSeconds: -1, deadlineMs: -1 })).toMatch(/deadlineMs.*ttlSeconds/);
  });

  it('has a digest that depends on prompts and not on ids', () => {
    expect(inputDigest({ ...input, jobId: 'another' })).toBe(inputDigest(input));
    expect(inputDigest({ ...input, prompts: [{ prompt: 'Say goodbye' }] })).not.toBe(inputDigest(input));
  });

  it('has the same digest wherever its texts and files are stored', async () => {
    const kept = await keepJobTexts(input, { results: memoryStore(), refuse: (why) => new Error(why), roomBytes: -1 });
    expect(inputDigest(kept)).toBe(inputDigest(input));
  });
});

/** Texts of a few bytes stay inline, so these are longer. */
const long = 'é'.repeat(60_000);
const texts: Partial<JobInput> = {
  source: { kind: 'create', body: { setupScript: long } },
  put: [{ path: 'a.txt', content: { base64: Buffer.from(long).toString('base64') } }],
  commands: [long],
  prompts: [{ prompt: long }, { prompt: 'short' }],
};

function memoryStore() {
  const kept = new Map<string, Buffer>();
  const put = async (key: string, content: Uint8Array) => {
    kept.set(key, Buffer.from(content));
    return { ref: `memory:${key}`, size: content.byteLength, sha256: '' };
  };
  return { kept, put } as unknown as ResultStore & { readonly kept: ReadonlyMap<string, Buffer> };
}

describe('long texts', () => {
  const refuse = (why: string) => new Error(why);

  it('are stored once each, and only their references are sent', async () => {
    const results = memoryStore();
    const kept = await keepJobTexts({ ...input, ...texts }, { results, refuse });
    expect([...results.kept.values()].map(String)).toEqual([long]);
    expect(JSON.stringify(kept).length).toBeLessThan(3_000);
    expect(kept.prompts[1]).toEqual({ prompt: 'short' });
    expect(kept.prompts[0]?.prompt).toMatchObject({ bytes: 120_000, head: expect.stringMatching(/^é{19}…$/) });
    expect(inputDigest(kept)).toBe(inputDigest({ ...input, ...texts }));
    expect(parseJobInput(kept)).toEqual(kept);
  });

  it('include every setup script, whose beginning is not sent either', async () => {
    const create = (setupScript: string) => ({ ...input, source: { kind: 'create', body: { setupScript } } }) as const;
    const results = memoryStore();
    const kept = await keepJobTexts(create('export TOKEN=secret'), { results, refuse });
    expect(JSON.stringify(kept)).not.toContain('secret');
    expect([...results.kept.values()].map(String)).toEqual(['export TOKEN=secret']);
    expect(inputDigest(kept)).toBe(inputDigest(create('export TOKEN=secret')));
    expect(parseJobInput(kept)).toEqual(kept);
    expect(await keepJobTexts(create('true'), { refuse })).toEqual(create('true'));
  });

  it('are refused with the path of a store that this user cannot write', async () => {
    const results = createResultStore('/dev/null/results');
    await expect(keepJobTexts({ ...input, ...texts }, { results, refuse })).rejects.toMatchObject({
      code: 'result_store_unwritable',
      message: expect.stringMatching(
        /^The result store \/dev\/null\/results cannot be written by user \d+ .*SANDFLOW_RESULTS/,
      ),
    });
  });

  it('include many short ones, until the rest fits', async () => {
    const prompts = Array.from({ length: 1_000 }, (_, at) => ({ prompt: `${at} ${'x'.repeat(5_000)}` }));
    const kept = await keepJobTexts({ ...input, prompts }, { results: memoryStore(), refuse });
    const inline = kept.prompts.filter(({ prompt }) => typeof prompt === 'string');
    expect(inline.length).toBeGreaterThan(20);
    expect(() => checkJobSize(kept)).not.toThrow();
  });

  it('are refused without a store, with the field, its size and what to do', async () => {
    const keep = () =>
      keepJobTexts({ ...input, prompts: [{ prompt: 'a' }, { prompt: 'x'.repeat(250_000) }] }, { refuse });
    await expect(keep).rejects.toThrow(
      /^prompts.1.prompt takes 250000 bytes, .* may take at most 150000 .*SANDFLOW_RESULTS/,
    );
  });
});
