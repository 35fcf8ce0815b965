/** Converts any thrown error to the error envelope (specification, "Errors"). */
import type { AssumptionId } from '../../../src/contract/assumptions.js';
import { errorCodes } from '../../../src/contract/workflow-safe/error-codes.js';
import { type Log, reasonOf } from '../log.js';
import { MachineError, type MachineErrorCode } from '../machine/index.js';
import { ServiceError } from '../service-error.js';

export function errorEnvelope(error: ServiceError, requestId: string): Readonly<Record<string, unknown>> {
  const { code, message, status, details } = error;
  return {
    ok: false,
    type: 'sandbox.error',
    status,
    code,
    message,
    error: { code, message, status, ...(details ? { details } : {}) },
    requestId,
  };
}

const machineErrors: Partial<Record<MachineErrorCode, readonly [status: number, code: string]>> = {
  not_found: [404, 'not_found'],
  not_a_file: [400, 'invalid_request'],
  not_a_folder: [400, 'invalid_request'],
  outside: [400, 'invalid_request'],
  bad_command: [400, 'invalid_request'],
  no_access: [403, 'forbidden'],
  too_large: [413, 'too_large'],
  no_disk: [400, 'machine_not_running'],
  ended: [400, 'machine_not_running'],
  no_snapshot: [404, 'not_found'],
  no_desktop: [409, 'desktop_not_available'],
  download_failed: [500, 'stream_failed'],
  closed: [500, 'http_500'],
};

/** Maps an error to its refusal. An unexpected error is logged, and answered without its details. */
export function asServiceError(cause: unknown, log: Log): ServiceError {
  if (cause instanceof ServiceError) return cause;
  if (cause instanceof MachineError) {
    const known = machineErrors[cause.code];
    if (known) return new ServiceError(known[0], known[1], cause.message, { cause });
  }
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new ServiceError(413, 'too_large', 'The request body is too large.', { cause });
  }
  if (typeof code === 'string' && code.startsWith('FST_ERR_')) {
    const status = (cause as { statusCode?: unknown }).statusCode;
    if (typeof status === 'number' && status < 500) {
      return new ServiceError(status, 'invalid_request', reasonOf(cause), { cause });
    }
  }
  log('a request failed unexpectedly', { reason: reasonOf(cause) });
  return new ServiceError(500, 'http_500', 'The local service failed unexpectedly. Its log contains the reason.', {
    cause,
  });
}

const assumedCodes: Readonly<Record<string, AssumptionId>> = {
  confirmation_required: 'A-confirmation',
  invalid_name: 'A-names',
  too_large: 'A-file-limit',
};

/** The assumptions that a refusal relies on, by its code and status. */
export function assumptionsOf({ code, status, retryAfterSeconds }: ServiceError): readonly AssumptionId[] {
  const assumed = Object.hasOwn(assumedCodes, code) ? assumedCodes[code] : undefined;
  return [
    ...(assumed ? [assumed] : []),
    ...(Object.hasOwn(errorCodes, code) ? [] : (['A-error-codes'] as const)),
    ...(status === 429 ? (['A-rate-limits'] as const) : []),
    ...(retryAfterSeconds === undefined ? [] : (['A-retry-after'] as const)),
  ];
}
