/** What errors of Temporal's client mean. */
import {
  isGrpcServiceError,
  QueryNotRegisteredError,
  ServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import {
  type ConnectionFault,
  type ConnectionProblem,
  connectionProblemOf,
  problemOf,
} from '../errors/connection-problem.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { earlyQueryText } from '../protocol/early-query.js';
import type { TunnelProxy } from '../settings/proxies.js';

const grpc = {
  cancelled: 1,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  internal: 13,
  unavailable: 14,
} as const;

/** Thrown if no answer came in time. It replaces the error of the client, which depends on the client's connection. */
export class AnswerTimeoutError extends Error {
  override readonly name = 'AnswerTimeoutError';

  constructor(cause: unknown) {
    super('no answer in time', { cause });
  }
}

/** True if Temporal was not reached, so the same call may succeed later. */
export function isTemporalUnreachable(error: unknown): boolean {
  return hasCode(error, ['unavailable', 'cancelled', 'internal', 'deadlineExceeded']);
}

/** True if the user may not make this call. Other calls may be allowed. */
export function isPermissionDenied(error: unknown): boolean {
  return hasCode(error, ['permissionDenied']);
}

/** True if the workflow did not answer in time. */
export function isSlow(error: unknown): boolean {
  if (error instanceof AnswerTimeoutError) return true;
  return error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || hasCode(error, ['deadlineExceeded']);
}

/**
 * True if the workflow was ending or has ended. If the request is repeated, it reaches the next run of the workflow.
 */
export function isClosing(error: unknown): boolean {
  return isNotFound(error) || hasCode(error, ['aborted']);
}

/** True if Temporal does not know what was asked for: the namespace, the workflow or the run, or no longer. */
export function isNotFound(error: unknown): boolean {
  return error instanceof WorkflowNotFoundError || hasCode(error, ['notFound']);
}

/** True if Temporal cannot do what was asked for in its present state. */
export function isFailedPrecondition(error: unknown): boolean {
  return hasCode(error, ['failedPrecondition']);
}

/** True if the workflow has as many open Updates as Temporal allows, ten, or Temporal has too many calls. */
export function isBusy(error: unknown): boolean {
  return hasCode(error, ['resourceExhausted']);
}

/**
 * True if the workflow task with an update failed, or the last ones before a query. For example, an event may arrive
 * during the last task of a run, or a busy worker may be too slow. The next task will accept the update or the query.
 */
export function isTaskFailure(error: unknown): boolean {
  if (!isFailedPrecondition(error)) return false;
  return /workflow task failure|workflow task in failed state/i.test(reasonOf(error as Error));
}

/** True for a query of a task queue that no worker has polled lately. Temporal answers it at once. */
export function hasNoPoller(error: unknown): boolean {
  return isFailedPrecondition(error) && /no poller/i.test(reasonOf(error as Error));
}

/** True if a worker refused a query because no task has processed the latest events yet. The next task will. */
export function isEarlyQuery(error: unknown): boolean {
  return error instanceof QueryNotRegisteredError && error.message.includes(earlyQueryText);
}

/** The reason that Temporal's client hides in the cause of an error. */
export function reasonOf(error: Error): string {
  return error.cause instanceof Error ? error.cause.message : error.message;
}

/** True for the reason of a call that the server refused because of who called. */
export function refusesCredentials(reason: string): boolean {
  return /unauthenticated|unauthorized|permission.?denied|does not have permission|valid authentication/i.test(reason);
}

/** The server of the embedded stack may run and still answer no call, for example after its database was interrupted. */
export const restartStack =
  'If the server of the embedded stack does not recover, restart it: `sandflow down --force`, then `sandflow up`. Its jobs continue.';

/** Creates the error `temporal_unreachable`, which names the address and says what to do. */
export function unreachable(address: string, cause: unknown, proxy?: TunnelProxy): SandflowError {
  // The proxy may be what does not answer, and what refuses. What is known of it names no login.
  const way = proxy ? `, through the proxy ${proxy.address},` : '';
  const said = cause instanceof Error ? reasonOf(cause) : String(cause);
  const problem = connectionProblemOf(cause) ?? nativeProblem(said);
  if (problem) {
    const message = `Temporal at ${address}${way} cannot be reached: ${problem.text}. ${mends[problem.fault] ?? problem.mend}`;
    return new SandflowError('temporal_unreachable', message, { cause });
  }
  const reason = nativeReason(said) ?? said;
  const advice = refusesCredentials(reason)
    ? 'It refuses the credentials: check TEMPORAL_API_KEY, or the client certificate, and TEMPORAL_NAMESPACE.'
    : /namespace.*not found/i.test(reason)
      ? 'It has no such namespace: correct TEMPORAL_NAMESPACE, or create the namespace.'
      : 'If TEMPORAL_ADDRESS (host:port) names your own server, check that it runs and that the TEMPORAL_TLS settings are ' +
        `correct. ${restartStack}`;
  const message = `Temporal at ${address}${way} cannot be reached. ${advice} (${reason})`;
  return new SandflowError('temporal_unreachable', message, { cause });
}

/** What helps otherwise than for a server that a URL names. */
const mends: Partial<Readonly<Record<ConnectionFault, string>>> = {
  untrusted:
    'Name the file with the certificate of the authority in NODE_EXTRA_CA_CERTS or in TEMPORAL_TLS_SERVER_CA_CERT_PATH.',
  other_name: 'Use its name in TEMPORAL_ADDRESS, or in TEMPORAL_TLS_SERVER_NAME.',
  no_tls: 'Unset TEMPORAL_TLS, or correct the port.',
  tls_refused:
    'Check the port; if it wants a client certificate, set TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH.',
};

/** What the native part says of a connection by TLS. */
const nativeFaults: readonly (readonly [RegExp, ConnectionFault])[] = [
  [/UnknownIssuer|CaUsedAsEndEntity|BadSignature/, 'untrusted'],
  [/NotValidForName/, 'other_name'],
  [/InvalidCertificate\(Expired/, 'expired'],
  [/InvalidCertificate\(NotValidYet/, 'not_yet_valid'],
  [/InvalidContentType/, 'no_tls'],
  [/CertificateRequired|HandshakeFailure|ProtocolVersion/, 'tls_refused'],
];

/** Recognises what the worker's native part says. */
const isNative = (said: string) => /tonic|transport error|hyper|ConnectError|os error/i.test(said);

function nativeProblem(said: string): ConnectionProblem | undefined {
  const fault = isNative(said) ? nativeFaults.find(([pattern]) => pattern.test(said))?.[1] : undefined;
  return fault && problemOf(fault);
}

/** Translates what the worker's native part says; undefined for a text that is not from it. */
function nativeReason(said: string): string | undefined {
  if (!isNative(said)) return undefined;
  if (/refused/i.test(said)) return 'nothing listens at this address';
  if (/dns|lookup|resolve/i.test(said)) return 'the name of the host is unknown';
  if (/broken pipe|connection reset/i.test(said))
    return 'it closed the connection: if it uses TLS, set TEMPORAL_TLS=true';
  if (/certificate|tls|handshake/i.test(said)) return 'the TLS settings do not fit those of the server';
  return 'no Temporal server answers at this address';
}

function hasCode(error: unknown, names: readonly (keyof typeof grpc)[]): boolean {
  // The error of the native connection is also an instance of the client's `ServiceError`, but has no cause.
  if (isGrpcServiceError(error)) return names.some((name) => grpc[name] === error.code);
  return error instanceof ServiceError && hasCode(error.cause, names);
}
