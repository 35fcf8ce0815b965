/** Explains a refusal of the service: the problem, and how to fix it. */
import { ApiError, UnexpectedResponseError } from '../client/errors.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { oneLine } from './output/terminal-safe.js';
import { formatDuration } from './units.js';

/**
 * The service refused, or did not answer. After a refusal, `code`, `status`, `requestId` and `details` are the
 * service's.
 */
export class ServiceRefusal extends SandflowError {
  readonly status: number | null;
  readonly requestId: string | null;
  readonly details: Readonly<Record<string, unknown>> | null;

  constructor(
    code: string,
    message: string,
    /** True if the same call may succeed later without a fix. */
    readonly mayPass: boolean,
    cause: unknown,
  ) {
    super({ foreign: code }, message, { cause });
    const said = cause instanceof ApiError ? cause : undefined;
    this.status = said?.status ?? null;
    this.requestId = said?.requestId ?? null;
    this.details = said?.details ?? null;
  }
}

/** @param askedMs how long the call was retried, in ms; undefined if it was not */
export function refusalOf(error: unknown, apiUrl: string, askedMs?: number): unknown {
  const service = `The service at ${apiUrl}`;
  const lasted = askedMs === undefined ? '' : ` for ${formatDuration(askedMs)}`;
  const later = 'Try again later.';
  if (error instanceof UnexpectedResponseError || (error instanceof ApiError && !error.typed)) {
    const message = `${service} did not answer${lasted}: another server answers at its address (${oneLine(error.message)}). Check SANDBOX_API_URL, which must include the version, and any proxy in between.`;
    return new ServiceRefusal('not_the_service', message, true, error);
  }
  if (!(error instanceof ApiError)) {
    const said = error instanceof Error ? oneLine(error.message) : String(error);
    return new ServiceRefusal('service_unreachable', `${service} cannot be reached${lasted}: ${said}`, true, error);
  }
  const { status, code, meaning } = error;
  const said = oneLine(error.message);
  const told = (message: string, mayPass: boolean) => new ServiceRefusal(code, message, mayPass, error);
  if (status === 401 || code === 'api_key_expired') {
    return told(`${service} rejects the key (${status} ${code}). Set SANDBOX_API_KEY to a valid key. ${said}`, false);
  }
  if (status === 402) return told(`${service} refuses requests because of the account's billing: ${said}`, false);
  if (code === 'org_suspended') return told(`${service} has suspended the organization: ${said}`, false);
  if (meaning === 'blocked') return told(`${service} refuses requests until this is fixed: ${said}`, false);
  if (status === 429) return told(`${service} throttles this key${lasted}: ${said}. ${later}`, true);
  if (meaning === 'unavailable') return told(`${service} answers with errors${lasted}: ${said}. ${later}`, true);
  return told(`${service} is not ready${lasted}: ${said}. ${later}`, true);
}
