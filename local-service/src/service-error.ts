import { SandflowError } from '../../src/errors/sandflow-error.js';

interface ServiceErrorOptions {
  readonly details?: Readonly<Record<string, unknown>>;
  /** Sent as `Retry-After`. */
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/** The refusal of a request, which becomes the error envelope (specification, "Errors"). */
export class ServiceError extends SandflowError {
  override readonly name = 'ServiceError';
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    readonly status: number,
    code: string,
    message: string,
    options: ServiceErrorOptions = {},
  ) {
    super({ foreign: code }, message, { cause: options.cause });
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** The answer for a request that cannot be understood. */
export function invalidRequest(message: string): ServiceError {
  return new ServiceError(400, 'invalid_request', message);
}

/** The answer for a resource that does not exist. */
export function notFound(message: string): ServiceError {
  return new ServiceError(404, 'not_found', message);
}

/** The answer for a sandbox that never existed or no longer exists. */
export function sandboxNotFound(sandboxId: string): ServiceError {
  return new ServiceError(404, 'sandbox_not_found', `The sandbox ${sandboxId} does not exist.`);
}
