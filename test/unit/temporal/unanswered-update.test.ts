import type { Client } from '@temporalio/client';
import { expect, it } from 'vitest';
import { AnswerTimeoutError } from '../../../src/temporal/errors.js';
import { askWorkflow } from '../../../src/workflow-client/ask-workflow.js';

const client = { withDeadline: <T>(_: number, ask: () => Promise<T>) => ask() } as unknown as Client;
const silent = () => Promise.reject(new AnswerTimeoutError(new Error('too late')));
const job = { kind: 'job', deployment: 'd', id: 'fix-1' } as const;

it('an update that no worker took may still arrive: its error says how to repeat it', async () => {
  const asking = askWorkflow(client, { ...job, updateId: 'u-1' }, silent);
  await expect(asking).rejects.toMatchObject({
    code: 'no_worker',
    message: expect.stringMatching(/It may still get the request then\. .* give it the same id: --update-id u-1$/),
  });
});

it('a query that nobody answered does not arrive later', async () => {
  await expect(askWorkflow(client, job, silent)).rejects.toMatchObject({
    code: 'no_worker',
    message: expect.not.stringContaining('may still'),
  });
});
