import { describe, expect, test } from 'vitest';
import { errorCodes } from '../../../src/contract/workflow-safe/error-codes.js';
import { sandflowErrors } from '../../../src/errors/sandflow-error-codes.js';
import { failureClassOf } from '../../../src/protocol/failure-class.js';
import { failureClasses, resultErrors } from '../../../src/protocol/result-error-codes.js';

const known: ReadonlySet<unknown> = new Set(failureClasses);
const codes = [...Object.keys(resultErrors), ...Object.keys(errorCodes), ...Object.keys(sandflowErrors)];

/** The codes that end jobs, a row per class. `docs/errors.md` has all of them. */
const examples: readonly (readonly [outcome: string, code: string | null, status: number | null, expected: string])[] =
  [
    ['prompt_failed', 'prompt_failed', null, 'agent'],
    ['prompt_failed', 'prompt_interrupted', null, 'agent'],
    ['rejected', 'provider_not_configured', 409, 'provider'],
    ['sandbox_cancelled', 'sandbox_cancelled', null, 'machine'],
    ['sandbox_failed', 'sandbox_error', null, 'machine'],
    ['rejected', 'fork_failed', 409, 'machine'],
    ['rejected', 'http_500', 503, 'service'],
    ['rejected', 'unexpected_response', 200, 'service'],
    ['outcome_unknown', 'outcome_unknown', null, 'service'],
    ['sandbox_failed', 'setup_failed', null, 'setup'],
    ['sandbox_failed', 'command_failed', null, 'setup'],
    ['rejected', 'sandbox_not_found', 404, 'setup'],
    ['rejected', 'box_not_promptable', 409, 'machine'],
    ['cancelled', 'clean_up_unfinished', null, 'cancelled'],
    ['outcome_unknown', 'item_lost', null, 'sandflow'],
    ['rejected', 'activity_failed', null, 'sandflow'],
    ['rejected', 'result_not_found', null, 'sandflow'],
    ['rejected', 'a_code_of_tomorrow', 422, 'setup'],
    ['rejected', 'a_code_of_tomorrow', 503, 'service'],
    ['rejected', 'a_code_of_tomorrow', null, 'service'],
    // The status decides, where a listed code has another one.
    ['rejected', 'fork_failed', 400, 'setup'],
    ['prompt_failed', null, null, 'agent'],
    ['unverified', null, null, 'check'],
    ['sandbox_failed', null, null, 'machine'],
    ['sandbox_cancelled', null, null, 'machine'],
    ['rejected', null, null, 'service'],
    ['outcome_unknown', null, null, 'service'],
    ['deadline_exceeded', null, null, 'cancelled'],
    ['cancelled', null, null, 'cancelled'],
    ['not_started', null, null, 'cancelled'],
    ['failed_fast', 'failed_fast', null, 'cancelled'],
    ['budget_spent', 'budget_spent', null, 'cancelled'],
    ['source_failed', null, null, 'setup'],
  ];

describe('failureClassOf', () => {
  test.each(codes)('has a class for %s', (code) => {
    expect(known).toContain(failureClassOf({ outcome: 'rejected', error: { code } }));
  });

  test.each(examples)('says of %s with %s (%s): %s', (outcome, code, status, expected) => {
    expect(failureClassOf({ outcome, error: code === null ? null : { code, status } })).toBe(expected);
  });

  test('says of what completed nothing, whatever could not be cleaned up', () => {
    expect(failureClassOf({ outcome: 'completed', error: { code: 'clean_up_unfinished' } })).toBeNull();
    expect(failureClassOf({ outcome: 'partly_failed', error: null })).toBeNull();
  });

  test('says of a deadline whose time it ended', () => {
    const ending = { outcome: 'deadline_exceeded', error: { code: 'deadline_exceeded' } };
    expect(failureClassOf({ ...ending, deadlineIn: 'following' })).toBe('agent');
    expect(failureClassOf({ ...ending, deadlineIn: 'creating' })).toBe('machine');
    expect(failureClassOf({ ...ending, deadlineIn: 'blocked' })).toBe('service');
    expect(failureClassOf(ending)).toBe('cancelled');
  });
});
