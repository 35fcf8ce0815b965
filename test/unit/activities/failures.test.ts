import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { describeFailure, effectOf, repeatableFailure, retryOwner } from '../../../activities/retry/classify.js';
import { ApiError, ConnectionError, TimeoutError, UnexpectedResponseError } from '../../../src/client/index.js';
import { errorCodes, errorMeaning } from '../../../src/contract/errors/error-codes.js';
import { refusedCallDelayMs } from '../../../workflows/shared/wait-intervals.js';

const apiError = (status: number, code: string, over: { typed?: boolean; retryAfterMs?: number } = {}) =>
  new ApiError('refused', {
    endpoint: 'createSandbox',
    status,
    code,
    typed: over.typed ?? true,
    meaning: errorMeaning(status, code),
    requestId: 'req_1',
    retryAfterMs: over.retryAfterMs ?? null,
    details: null,
  });

/** Which part repeats a call after each error code. */
const owners = {
  permanent: 'nobody',
  wait_out: 'workflow',
  few_tries: 'workflow',
  throttled_shortly: 'workflow',
  throttled_for_long: 'workflow',
  blocked: 'workflow',
  unavailable: 'temporal',
} as const;

describe('the failure of each error code', () => {
  const rows = Object.entries(errorCodes).flatMap(([code, { statuses, meaning }]) =>
    statuses.flatMap((status) => [null, 7_000].map((retryAfterMs) => ({ code, status, meaning, retryAfterMs }))),
  );

  it.each(rows.filter(({ code }) => code !== 'idempotency_in_progress'))(
    '$status $code ($meaning), Retry-After $retryAfterMs ms, is repeated by the owner of its meaning, and not before',
    ({ code, status, meaning, retryAfterMs }) => {
      const error = apiError(status, code, { retryAfterMs: retryAfterMs ?? undefined });
      expect(retryOwner(meaning, effectOf(error))).toBe(owners[meaning]);
      const failure = repeatableFailure(error, { calls: 1 }) as ApplicationFailure;
      expect(failure).toBeInstanceOf(ApplicationFailure);
      expect(failure.type).toBe(code);
      expect(failure.nonRetryable).toBe(owners[meaning] !== 'temporal');
      expect(failure.details?.[0]).toMatchObject({ code, status, meaning, requestId: 'req_1', calls: 1, retryAfterMs });
      const byTemporal = owners[meaning] === 'temporal';
      expect(failure.nextRetryDelay).toBe(byTemporal ? (retryAfterMs ?? undefined) : undefined);
      const byWorkflow = refusedCallDelayMs({ meaning, retryAfterMs }, 0);
      if (owners[meaning] === 'workflow') expect(byWorkflow).toBeGreaterThanOrEqual(retryAfterMs ?? 1_000);
      if (owners[meaning] === 'nobody') expect(byWorkflow).toBeUndefined();
    },
  );

  it('S4: repeats with the same key through idempotency_in_progress, even if the job is cancelled', () => {
    const error = apiError(409, 'idempotency_in_progress');
    expect(effectOf(error)).toBe('unknown');
    expect(retryOwner('wait_out', effectOf(error))).toBe('temporal');
  });

  it('honours Retry-After', () => {
    const failure = repeatableFailure(apiError(503, 'http_500', { retryAfterMs: 7_000 }), { calls: 1 });
    expect((failure as ApplicationFailure).nextRetryDelay).toBe(7_000);
  });
});

describe('effectOf', () => {
  it.each([
    ['a typed refusal', apiError(409, 'provider_not_configured'), 'none'],
    ["a proxy's 404", apiError(404, 'http_404', { typed: false }), 'unknown'],
    ['a typed 5xx', apiError(500, 'http_500'), 'unknown'],
    ['a connection that was never made', new ConnectionError('sendPrompt', false, 'ECONNRESET'), 'none'],
    ['a connection that broke after the first byte', new ConnectionError('sendPrompt', true, 'ECONNRESET'), 'unknown'],
    ['a time-out before the first byte', new TimeoutError('sendPrompt', false, 5), 'none'],
    ['a time-out after it', new TimeoutError('sendPrompt', true, 5), 'unknown'],
    [
      'an answer that cannot be read',
      new UnexpectedResponseError('sendPrompt', 202, 'conversationId', 'is missing'),
      'unknown',
    ],
    ['an error of nobody', new Error('bug'), 'unknown'],
  ])('of %s', (_, error, effect) => {
    expect(effectOf(error)).toBe(effect);
  });
});

it('passes other errors on to Temporal', () => {
  const bug = new TypeError('bug');
  expect(describeFailure(bug, 0)).toBeUndefined();
  expect(repeatableFailure(bug, { calls: 0 })).toBe(bug);
});
