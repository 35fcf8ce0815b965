import { describe, expect, it } from 'vitest';
import { currentErrorCode, errorCodes, errorMeaning } from '../../../src/contract/workflow-safe/error-codes.js';

/** Written separately from the specification and the design, so that a mistake in the table is found. */
const table: [status: number, code: string, meaning: string][] = [
  [400, 'invalid_json', 'permanent'],
  [400, 'prompt_required', 'permanent'],
  [400, 'provider_required', 'permanent'],
  [400, 'invalid_name', 'permanent'],
  [400, 'no_changes', 'permanent'],
  [400, 'machine_not_running', 'wait_out'],
  [400, 'trial_auto_stop_required', 'permanent'],
  [401, 'unauthorized', 'blocked'],
  [402, 'billing_required', 'blocked'],
  [402, 'team_member_cap_reached', 'blocked'],
  [403, 'forbidden', 'permanent'],
  [403, 'trial_machine_class_not_allowed', 'permanent'],
  [403, 'org_suspended', 'blocked'],
  [403, 'api_key_expired', 'blocked'],
  [403, 'api_key_action_forbidden', 'permanent'],
  [403, 'api_key_sandbox_forbidden', 'permanent'],
  [404, 'not_found', 'permanent'],
  [404, 'sandbox_not_found', 'permanent'],
  [409, 'account_not_ready', 'wait_out'],
  [409, 'provider_not_configured', 'permanent'],
  [409, 'sandbox_not_promptable', 'permanent'],
  [409, 'resume_failed', 'few_tries'],
  [409, 'fork_failed', 'few_tries'],
  [409, 'snapshot_data_expired', 'permanent'],
  [409, 'api_key_expired', 'blocked'],
  [409, 'idempotency_in_progress', 'wait_out'],
  [409, 'idempotency_key_reused', 'permanent'],
  [429, 'rate_limited', 'throttled_shortly'],
  [429, 'daily_limit_reached', 'throttled_for_long'],
  [429, 'limit_reached', 'throttled_for_long'],
  [429, 'member_limit_reached', 'throttled_for_long'],
  [500, 'invalid_json_response', 'unavailable'],
  [500, 'stream_failed', 'unavailable'],
  [500, 'http_500', 'unavailable'],
];

const trapOf = (status: number, code: string) =>
  status === 429 ? 'S14: ' : code.startsWith('idempotency') ? 'S4: ' : '';

describe('the meaning of every error code', () => {
  it.each(table.map((row) => [`${trapOf(row[0], row[1])}${row[0]} ${row[1]} is ${row[2]}`, ...row] as const))(
    '%s',
    (_, status, code, meaning) => {
      expect(errorMeaning(status, code)).toBe(meaning);
    },
  );

  it('is in the table with each of its statuses, and no other code is', () => {
    const listed = Object.entries(errorCodes).flatMap(([code, { statuses }]) => statuses.map((s) => `${s} ${code}`));
    expect(listed.sort()).toEqual(table.map(([status, code]) => `${status} ${code}`).sort());
  });
});

describe('the HTTP status is authoritative', () => {
  it('for a listed code with a foreign status', () => {
    expect(errorMeaning(503, 'not_found')).toBe('unavailable');
    expect(errorMeaning(404, 'rate_limited')).toBe('permanent');
    expect(errorMeaning(403, 'idempotency_in_progress')).toBe('permanent');
  });

  it.each([
    [400, 'permanent'],
    [401, 'blocked'],
    [402, 'blocked'],
    [403, 'permanent'],
    [404, 'permanent'],
    [408, 'unavailable'],
    [409, 'permanent'],
    [413, 'permanent'],
    [425, 'wait_out'],
    [429, 'throttled_shortly'],
    [500, 'unavailable'],
    [502, 'unavailable'],
    [503, 'unavailable'],
    [504, 'unavailable'],
  ])('for an unlisted code: %i is %s', (status, meaning) => {
    expect(errorMeaning(status, 'brand_new')).toBe(meaning);
    expect(errorMeaning(status, 'constructor')).toBe(meaning);
  });

  it('for a 5xx code, which is listed for the whole class', () => {
    expect(errorMeaning(502, 'stream_failed')).toBe('unavailable');
  });
});

describe('S15: the legacy vocabulary', () => {
  it.each([
    ['box_not_promptable', 'sandbox_not_promptable'],
    ['box_not_found', 'sandbox_not_found'],
    ['api_key_box_forbidden', 'api_key_sandbox_forbidden'],
    ['BOX_NOT_FOUND', 'sandbox_not_found'],
    ['rate_limited', 'rate_limited'],
    ['RATE_LIMITED', 'rate_limited'],
    ['fork-failed', 'fork_failed'],
    ['Not_Listed', 'Not_Listed'],
    ['toString', 'toString'],
  ])('%s is %s', (legacy, current) => {
    expect(currentErrorCode(legacy)).toBe(current);
  });
});
