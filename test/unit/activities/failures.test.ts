import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { pauseAfter } from '../../../activities/retry/attempt.js';
import {
  describeFailure,
  effectOf,
  finalFailure,
  outcomeUnknown,
  repeatableFailure,
  retryOwner,
} from '../../../activities/retry/classify.js';
import {
  ApiError,
  ConnectionError,
  ListIncompleteError,
  TimeoutError,
  UnexpectedResponseError,
} from '../../../src/client/index.js';
import { errorCodes, errorMeaning } from '../../../src/contract/workflow-safe/error-codes.js';
import { refusedCallDelayMs } from '../../../workflows/shared/wait-intervals.js';

interface Over {
  readonly message?: string;
  readonly typed?: boolean;
  readonly retryAfterMs?: number;
  readonly details?: Readonly<Record<string, unknown>>;
}

const apiError = (status: number, code: string, over: Over = {}) =>
  new ApiError(over.message ?? 'refused', {
    endpoint: 'createSandbox',
    status,
    code,
    typed: over.typed ?? true,
    meaning: errorMeaning(status, code),
    requestId: 'req_1',
    retryAfterMs: over.retryAfterMs ?? null,
    details: over.details ?? null,
  });

/** At least `baseMs`, and at most a quarter longer. */
function expectSpread(delay: unknown, baseMs: number): void {
  expect(delay).toBeGreaterThanOrEqual(baseMs);
  expect(delay).toBeLessThanOrEqual(baseMs * 1.25);
}

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
      const failure = repeatableFailure(error, { pauseMs: 2_000 }) as ApplicationFailure;
      expect(failure).toBeInstanceOf(ApplicationFailure);
      expect(failure.type).toBe(code);
      expect(failure.nonRetryable).toBe(owners[meaning] !== 'temporal');
      expect(failure.details?.[0]).toMatchObject({ code, status, meaning, requestId: 'req_1', retryAfterMs });
      const byTemporal = owners[meaning] === 'temporal';
      if (byTemporal) expectSpread(failure.nextRetryDelay, retryAfterMs ?? 2_000);
      else expect(failure.nextRetryDelay).toBeUndefined();
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

  it('the pause follows the policy of the activity', () => {
    const policy = { initialInterval: '500 milliseconds', maximumInterval: 3_000 } as const;
    expect([1, 2, 3, 4, 900].map((attempt) => pauseAfter(attempt, policy))).toEqual([500, 1_000, 2_000, 3_000, 3_000]);
    expect(pauseAfter(4, { initialInterval: 50, backoffCoefficient: 1 })).toBe(50);
    expect([pauseAfter(1), pauseAfter(50)]).toEqual([1_000, 100_000]);
  });

  it('pauses differ from call to call, with and without Retry-After, and none is shorter than asked', () => {
    for (const [retryAfterMs, baseMs] of [
      [7_000, 7_000],
      [undefined, 2_000],
    ] as const) {
      const failures = Array.from({ length: 20 }, () =>
        repeatableFailure(apiError(503, 'http_500', { retryAfterMs }), { pauseMs: 2_000 }),
      );
      const delays = failures.map((failure) => (failure as ApplicationFailure).nextRetryDelay);
      for (const delay of delays) expectSpread(delay, baseMs);
      expect(new Set(delays).size).toBeGreaterThan(1);
    }
  });
});

describe('the failure of a call without a readable answer', () => {
  const noAnswer = { requestId: null, retryAfterMs: null, details: null, meaning: 'unavailable', maybeSent: false };

  it.each([
    ['a connection that was never made', new ConnectionError('sendPrompt', false, 'ECONNRESET'), null],
    ['a connection that broke', new ConnectionError('sendPrompt', true, 'ECONNRESET'), null],
    ['a time-out', new TimeoutError('sendPrompt', true, 5), null],
    ['a web page', new UnexpectedResponseError('sendPrompt', 202, 'body', 'is a web page', 'unavailable'), 202],
  ])('of %s is repeated by Temporal, whatever its effect, and says what was called', (_, error, status) => {
    const failure = repeatableFailure(error, { pauseMs: 2_000 }) as ApplicationFailure;
    expect(failure).toMatchObject({ type: error.code, message: error.message, nonRetryable: false });
    expectSpread(failure.nextRetryDelay, 2_000);
    const { code, message } = error;
    expect(failure.details).toEqual([{ ...noAnswer, code, message, endpoint: 'sendPrompt', status }]);
  });

  const unreadable = new UnexpectedResponseError('sendPrompt', 202, 'conversationId', 'is missing');
  it.each([
    [1, false],
    [2, false],
    [3, true],
    [undefined, true],
  ])('that can be read is left to the workflow after three attempts: %s', (attempt, nonRetryable) => {
    const failure = repeatableFailure(unreadable, { attempt, pauseMs: 2_000 });
    expect(failure).toMatchObject({ type: 'unexpected_response', nonRetryable });
    expect((failure as ApplicationFailure).details).toMatchObject([
      { code: 'unexpected_response', meaning: 'unreadable', status: 202, maybeSent: true },
    ]);
  });

  it('that is a part of a list is final', () => {
    const failure = repeatableFailure(new ListIncompleteError('listSandboxes', '2 rows'), { attempt: 1, pauseMs: 1 });
    expect(failure).toMatchObject({
      ...{ type: 'list_incomplete', nonRetryable: true },
      details: [{ meaning: 'permanent', endpoint: 'listSandboxes' }],
    });
  });

  it('stays with Temporal even if nothing was sent', () => {
    expect(retryOwner('unavailable', 'none')).toBe('temporal');
  });
});

describe('what a failure carries', () => {
  const described = (over: Over) => describeFailure(apiError(400, 'invalid_json', over));

  it('is a message of at most 2,000 characters', () => {
    expect(described({ message: 'm'.repeat(2_000) })?.message).toBe('m'.repeat(2_000));
    expect(described({ message: 'm'.repeat(2_001) })?.message).toBe(`${'m'.repeat(1_999)}…`);
  });

  it('has details of at most 4,000 bytes, and larger ones not at all', () => {
    const ofBytes = (bytes: number) => ({ text: 'd'.repeat(bytes - '{"text":""}'.length) });
    expect(described({ details: ofBytes(4_000) })?.details).toEqual(ofBytes(4_000));
    expect(described({ details: ofBytes(4_001) })?.details).toBeNull();
  });

  it('says whether an earlier attempt may have been sent: not unless the caller says so', () => {
    const sent = (maybeSent?: boolean) =>
      (repeatableFailure(apiError(503, 'http_500'), { maybeSent, pauseMs: 2_000 }) as ApplicationFailure).details?.[0];
    expect([sent(), sent(false), sent(true)]).toMatchObject([
      { maybeSent: false },
      { maybeSent: false },
      { maybeSent: true },
    ]);
  });

  it('obeys no Retry-After for longer than five minutes', () => {
    const failure = repeatableFailure(apiError(503, 'http_500', { retryAfterMs: 3_600_000 }), { pauseMs: 1 });
    expectSpread((failure as ApplicationFailure).nextRetryDelay, 300_000);
    expect((failure as ApplicationFailure).details).toMatchObject([{ retryAfterMs: 300_000 }]);
  });
});

describe('a failure that must not be repeated', () => {
  it('is not retried, whatever its meaning', () => {
    const failure = describeFailure(apiError(503, 'http_500'));
    if (!failure) throw new Error('The failure is not described.');
    const { message, code: type } = failure;
    expect(finalFailure(failure)).toMatchObject({ message, type, nonRetryable: true, details: [failure] });
  });

  it('with an unknown outcome says why, and what was called', () => {
    expect(outcomeUnknown('Nobody knows.', { endpoint: 'sendPrompt' })).toMatchObject({
      type: 'outcome_unknown',
      nonRetryable: true,
      details: [{ code: 'outcome_unknown', message: 'Nobody knows.', meaning: 'permanent', endpoint: 'sendPrompt' }],
    });
  });
});

describe('effectOf', () => {
  it.each([
    ['a typed refusal', apiError(409, 'provider_not_configured'), 'none'],
    ["a proxy's 404", apiError(404, 'http_404', { typed: false }), 'unknown'],
    ['a typed 5xx', apiError(500, 'http_500'), 'unknown'],
    ['a typed redirect', apiError(302, 'http_302'), 'unknown'],
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
  expect(describeFailure(bug)).toBeUndefined();
  expect(repeatableFailure(bug, { pauseMs: 2_000 })).toBe(bug);
});
