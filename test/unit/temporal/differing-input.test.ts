import { describe, expect, it } from 'vitest';
import { differenceText } from '../../../src/cli/run/existing-job.js';
import type { NewJob } from '../../../src/protocol/job/job-input.js';
import { differingFields } from '../../../src/workflow-client/jobs/differing-input.js';
import { parseJobInput } from '../../../src/workflow-client/jobs/job-input.js';

const job = (input: Partial<NewJob>) =>
  parseJobInput({ deployment: 'one', jobId: 'ci', prompts: [{ prompt: 'Say hello' }], ...input });

describe('what differs between two jobs with one id', () => {
  it.each<[string, Partial<NewJob>, string | null]>([
    ['nothing, whatever the deployment', { deployment: 'two' }, null],
    ['nothing if a default is given', { ttlSeconds: 1_800 }, null],
    ['the text of a prompt', { prompts: [{ prompt: 'Say bye' }] }, 'the prompts'],
    ['the number of prompts', { prompts: [{ prompt: 'Say hello' }, { prompt: 'More' }] }, 'the prompts'],
    ['the model', { prompts: [{ prompt: 'Say hello', model: 'm2' }] }, '--model'],
    ['the environment', { source: { kind: 'create', body: { environment: 'ci' } } }, '--environment'],
    ['several options', { deadlineMs: 5, collect: ['out'], end: 'delete' }, '--get, --end, --deadline'],
  ])('%s', (_, other, text) => {
    expect(differenceText(differingFields(job({}), job(other)))).toBe(text);
  });

  it('names the sandbox if its kind differs', () => {
    const other = job({ source: { kind: 'existing', sandboxId: 'bx_2345abcd' }, end: 'stop' });
    expect(differenceText(differingFields(job({}), other))).toBe('the sandbox (--sandbox, --fork or --from)');
  });

  it('finds a text and a reference to it equal', () => {
    const sha256 = '3a8eb1e1c5a5b5e2c5a5b5e2c5a5b5e2c5a5b5e2c5a5b5e2c5a5b5e2c5a5b5e2';
    const stored = (head: string) =>
      job({ prompts: [{ prompt: { ref: `inputs/${sha256}`, bytes: 9, sha256, head } }] });
    expect(differingFields(stored('a'), stored('b'))).toEqual([]);
    expect(differingFields(stored('a'), job({}))).toEqual(['prompts.0.prompt']);
  });
});
