/**
 * Every error code of the specification (section "Errors"), with its meaning for retries.
 * No dependencies: workflow code imports this file.
 */

/**
 * How a caller should react to an error:
 * - `permanent`: stop and report the reason.
 * - `wait_out`: the service has to finish something first; try again every few seconds, for minutes.
 * - `few_tries`: another attempt may succeed; stop after a few attempts.
 * - `throttled_shortly`, `throttled_for_long`: back off for seconds, or for minutes.
 * - `blocked`: an operator can fix the cause; wait visibly and retry slowly.
 * - `unavailable`: back off with jitter.
 * - `unreadable`: the service has answered, and the answer lacks what callers need; stop after a few equal answers.
 */
export const errorMeanings = [
  'permanent',
  'wait_out',
  'few_tries',
  'throttled_shortly',
  'throttled_for_long',
  'blocked',
  'unavailable',
  'unreadable',
] as const;
/** One of `errorMeanings`. */
export type ErrorMeaning = (typeof errorMeanings)[number];

/**
 * The listed codes, each with the statuses under which the specification lists it, and its meaning. `api_key_expired`
 * has two statuses: 403 on use, 409 on rotate. `class` says whose failure it is where the meaning does not (docs/errors.md).
 */
export const errorCodes = {
  invalid_json: { statuses: [400], meaning: 'permanent', class: 'sandflow' },
  prompt_required: { statuses: [400], meaning: 'permanent' },
  provider_required: { statuses: [400], meaning: 'permanent' },
  invalid_name: { statuses: [400], meaning: 'permanent' },
  no_changes: { statuses: [400], meaning: 'permanent', class: 'sandflow' },
  machine_not_running: { statuses: [400], meaning: 'wait_out', class: 'machine' },
  trial_auto_stop_required: { statuses: [400], meaning: 'permanent' },
  unauthorized: { statuses: [401], meaning: 'blocked' },
  billing_required: { statuses: [402], meaning: 'blocked' },
  team_member_cap_reached: { statuses: [402], meaning: 'blocked' },
  forbidden: { statuses: [403], meaning: 'permanent' },
  trial_machine_class_not_allowed: { statuses: [403], meaning: 'permanent' },
  org_suspended: { statuses: [403], meaning: 'blocked' },
  api_key_expired: { statuses: [403, 409], meaning: 'blocked' },
  api_key_action_forbidden: { statuses: [403], meaning: 'permanent' },
  api_key_sandbox_forbidden: { statuses: [403], meaning: 'permanent' },
  not_found: { statuses: [404], meaning: 'permanent' },
  sandbox_not_found: { statuses: [404], meaning: 'permanent' },
  account_not_ready: { statuses: [409], meaning: 'wait_out' },
  provider_not_configured: { statuses: [409], meaning: 'permanent', class: 'provider' },
  sandbox_not_promptable: { statuses: [409], meaning: 'permanent', class: 'machine' },
  resume_failed: { statuses: [409], meaning: 'few_tries', class: 'machine' },
  fork_failed: { statuses: [409], meaning: 'few_tries', class: 'machine' },
  snapshot_data_expired: { statuses: [409], meaning: 'permanent' },
  idempotency_in_progress: { statuses: [409], meaning: 'wait_out' },
  idempotency_key_reused: { statuses: [409], meaning: 'permanent', class: 'sandflow' },
  rate_limited: { statuses: [429], meaning: 'throttled_shortly' },
  daily_limit_reached: { statuses: [429], meaning: 'throttled_for_long' },
  limit_reached: { statuses: [429], meaning: 'throttled_for_long' },
  member_limit_reached: { statuses: [429], meaning: 'throttled_for_long' },
  invalid_json_response: { statuses: [500], meaning: 'unavailable' },
  stream_failed: { statuses: [500], meaning: 'unavailable' },
  http_500: { statuses: [500], meaning: 'unavailable' },
} as const satisfies Record<string, { statuses: readonly number[]; meaning: ErrorMeaning; class?: string }>;

/** A listed error code of the service. */
export type ErrorCode = keyof typeof errorCodes;

/** Codes of the legacy vocabulary, with the current code for each (specification, "Versioning"). */
const legacyCodes: Readonly<Record<string, ErrorCode>> = {
  box_not_promptable: 'sandbox_not_promptable',
  box_not_found: 'sandbox_not_found',
  api_key_box_forbidden: 'api_key_sandbox_forbidden',
};

/**
 * Translates a code of the legacy vocabulary to the current vocabulary, and a listed code that is written otherwise, such
 * as `FORK_FAILED`. Any other code is returned unchanged.
 */
export function currentErrorCode(code: string): string {
  const written = code.toLowerCase().replaceAll('-', '_');
  if (Object.hasOwn(legacyCodes, written)) return legacyCodes[written] ?? code;
  return Object.hasOwn(errorCodes, written) ? written : code;
}

/**
 * The meaning of an error. The HTTP status is authoritative (specification, "Errors"). So a listed code counts only
 * with one of its own statuses. Otherwise the status alone decides, also for a code that is not listed ("the
 * exhaustive list is not shown").
 * @example
 * if (error instanceof ApiError && errorMeaning(error.status, error.code) === 'permanent') throw error;
 */
export function errorMeaning(status: number, code: string): ErrorMeaning {
  const current = currentErrorCode(code);
  if (Object.hasOwn(errorCodes, current)) {
    const known = errorCodes[current as ErrorCode];
    if (known.statuses.some((listed) => listed === status)) return known.meaning;
  }
  if (status === 401 || status === 402) return 'blocked';
  if (status === 408) return 'unavailable';
  if (status === 425) return 'wait_out';
  if (status === 429) return 'throttled_shortly';
  if (status >= 500) return 'unavailable';
  return 'permanent';
}
