import { ApplicationFailure } from '@temporalio/activity';
import type { ActivityExecuteInput } from '@temporalio/worker';
import { expect, it } from 'vitest';
import { readStoredJson } from '../../../src/result-store/stored-json.js';
import { activityFailures } from '../../../src/worker/queues.js';

const input: ActivityExecuteInput = { args: [], headers: {} };
const failureOf = (activity: () => Promise<unknown>) =>
  activityFailures.execute?.(input, activity).then(
    () => undefined,
    (error: unknown) => error,
  );

it('an object of another version is not read again and again', async () => {
  const get = async () => Buffer.from(JSON.stringify({ version: 2 }));
  const failure = await failureOf(() => readStoredJson({ get }, 'jobs/one/record.json'));
  expect(failure).toBeInstanceOf(ApplicationFailure);
  expect(failure).toMatchObject({
    nonRetryable: true,
    type: 'result_of_other_version',
    message: expect.stringContaining('jobs/one/record.json'),
  });
});

it('a failure of the store stays one that Temporal repeats', async () => {
  const away = new Error('EIO');
  expect(await failureOf(() => Promise.reject(away))).toBe(away);
});
