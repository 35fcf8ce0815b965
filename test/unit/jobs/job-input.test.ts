import { describe, expect, it } from 'vitest';
import { parseJobInput } from '../../../src/temporal/job-input.js';
import { inputDigest } from '../../../src/temporal/jobs.js';
import type { JobInput } from '../../../workflows/job.js';

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
  it('is taken as it is when it is right', () => {
    expect(parseJobInput(input)).toEqual(input);
  });

  it('needs no prompt where it has a command', () => {
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
    [{ notify: {} }, 'notify: needs a url or a command'],
    [{ notify: { url: 'file:///etc/passwd' } }, 'notify.url'],
    [{ surprise: true }, 'surprise'],
  ])('is refused with %j, naming the field', (change, message) => {
    expect(refusal(change)).toContain(message);
  });

  it('is refused where it would not fit into one payload', () => {
    expect(refusal({ prompts: [{ prompt: 'x'.repeat(1_600_000) }] })).toContain('Put long texts into files');
  });

  it('names every field that is wrong at once', () => {
    expect(refusal({ ttlSeconds: -1, deadlineMs: -1 })).toMatch(/deadlineMs.*ttlSeconds/);
  });

  it('has a digest that tells other prompts apart, and not other ids', () => {
    expect(inputDigest({ ...input, jobId: 'another' })).toBe(inputDigest(input));
    expect(inputDigest({ ...input, prompts: [{ prompt: 'Say goodbye' }] })).not.toBe(inputDigest(input));
  });
});
