import { type Client, ServiceError } from '@temporalio/client';
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

/** A client whose Temporal answers a description like this. */
const described = (answer: () => Promise<unknown>) =>
  ({
    ...client,
    connection: { plugins: [], workflowService: { describeWorkflowExecution: answer } },
    options: { namespace: 'n', loadedDataConverter: { payloadCodecs: [], payloadConverter: {} } },
  }) as unknown as Client;
const failing = (code: number, details: string) =>
  Object.assign(new Error(`${code} ${details}`), { code, details, metadata: new Map() });

it.each([
  ['UNAVAILABLE', 14],
  ['DEADLINE_EXCEEDED', 4],
  ['CANCELLED', 1],
])('a Temporal that answers nothing is told, not a worker that is missing: %s', async (name, code) => {
  const gone = described(() => Promise.reject(failing(code, name)));
  await expect(askWorkflow(gone, { ...job, updateId: 'u-1' }, silent)).rejects.toMatchObject({
    code: 'temporal_unreachable',
    message: expect.stringMatching(/^Temporal does not answer.*--update-id u-1$/),
  });
});

it.each([
  ['NOT_FOUND', 5],
  ['PERMISSION_DENIED', 7],
])('a Temporal that answers something says that no worker does: %s', async (name, code) => {
  const there = described(() => Promise.reject(failing(code, name)));
  await expect(askWorkflow(there, job, silent)).rejects.toMatchObject({ code: 'no_worker' });
});

it('a query that Temporal refuses at once because no worker polls is told in plain words', async () => {
  const cause = failing(9, 'no poller seen for task queue recently, worker may be down');
  const refused = () => Promise.reject(new ServiceError('Failed to query Workflow', { cause }));
  await expect(askWorkflow(client, job, refused)).rejects.toMatchObject({
    code: 'no_worker',
    message: 'The job "fix-1" did not answer in time: no worker takes its tasks. Start one with `sandflow worker`.',
  });
  const other = () => Promise.reject(new ServiceError('x', { cause: failing(9, 'the namespace is not ready') }));
  await expect(askWorkflow(client, job, other)).rejects.toBeInstanceOf(ServiceError);
});
