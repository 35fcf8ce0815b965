import { type Client, ServiceError } from '@temporalio/client';
import { describe, expect, it, vi } from 'vitest';
import { withAnswerTimeout } from '../../../src/temporal/calls.js';

const client = { withDeadline: <T>(_: number, ask: () => Promise<T>) => ask() } as unknown as Client;

/** As the native connection throws it for an update with a start; other calls wrap it. */
const bare = (message: string) => Object.assign(new ServiceError(message), { code: 9, details: '', metadata: {} });
const wrapped = (message: string, cause = message) => new ServiceError(message, { cause: bare(cause) });
const taskFailed = 'Unable to perform workflow execution update due to unexpected workflow task failure.';
const queryRefused = 'Unable to query workflow due to Workflow Task in failed state.';

describe('a call that waits for a workflow', () => {
  it.each([
    { error: 'a bare error', refused: bare(taskFailed) },
    { error: 'a wrapped error', refused: wrapped(taskFailed) },
    { error: 'a query', refused: wrapped('Failed to query Workflow', queryRefused) },
  ])('is repeated if a workflow task failed, because the next one will accept it: $error', async ({ refused }) => {
    const ask = vi.fn().mockRejectedValueOnce(refused).mockResolvedValueOnce('accepted');
    await expect(withAnswerTimeout(client, ask)).resolves.toBe('accepted');
  });

  it('is not repeated for another precondition', async () => {
    const ask = vi.fn().mockRejectedValue(bare('the namespace is not ready'));
    await expect(withAnswerTimeout(client, ask)).rejects.toThrow('the namespace is not ready');
    expect(ask).toHaveBeenCalledTimes(1);
  });
});
