/** What a bucket answers that is no success, or why it does not answer: each with what helps. */
import { connectionProblemOf } from '../errors/connection-problem.js';
import { SandflowError } from '../errors/sandflow-error.js';

type Code = 'disk_full' | 'store_refused' | 'store_unreachable';

/**
 * By code, what is wrong and what helps, as the rest of a sentence that begins with the store. The first that fits counts. Its
 * key names errors of the SDK, which are S3's codes, codes of Node, or HTTP statuses: HEAD has no other answer.
 */
export const faults: Readonly<Record<Code, Readonly<Record<string, string>>>> = {
  disk_full: {
    'XMinioStorageFull|XMinioAdminBucketQuotaExceeded|QuotaExceeded|InsufficientStorage|507':
      'is full. Free some space there, or raise its quota, then try again',
  },
  store_refused: {
    NoSuchBucket: 'has no such bucket. Create the bucket, or correct its name in the setting',
    'ExpiredToken|InvalidToken':
      'has a key that has expired. Renew it and restart this process, or give this machine a role',
    'InvalidAccessKeyId|SignatureDoesNotMatch|401':
      'does not accept the key. Correct AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the profile that AWS_PROFILE names',
    CredentialsProviderError:
      'needs a key. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or give this machine a role',
    'Region is missing|PermanentRedirect|AuthorizationHeaderMalformed|IllegalLocationConstraintException|301':
      'is in another region. Set AWS_REGION to the region of the bucket',
    'RequestTimeTooSkewed|RequestExpired': 'does not accept the time of this machine. Set its clock',
    'AccessDenied|403|405':
      'does not allow this. The key needs s3:ListBucket for the bucket, and s3:GetObject, s3:PutObject, s3:DeleteObject and s3:AbortMultipartUpload below the prefix',
    'NotImplemented|501':
      'lacks a function. Use a server that honours If-Match and If-None-Match at writes, as Amazon S3 does',
  },
  store_unreachable: {
    '409|412|NoSuchKey|NoSuchUpload': 'got another object under the same key meanwhile. Try again',
    'ENOTFOUND|EAI_AGAIN|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ECONNRESET|EPIPE|EPROTO|ETIMEDOUT|TimeoutError':
      'cannot be reached. Check the network and, for a server other than that of Amazon, AWS_ENDPOINT_URL_S3',
  },
};

function faultOf(names: readonly unknown[]): readonly [Code, string] {
  for (const [code, texts] of Object.entries(faults)) {
    const text = Object.entries(texts).find(([key]) => key.split('|').some((name) => names.includes(name)))?.[1];
    if (text) return [code as Code, text];
  }
  return ['store_unreachable', 'does not answer as it should. Try again later'];
}

interface Failure extends Error {
  readonly code?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number; readonly requestId?: string };
}

const statusOf = (error: unknown) => (error as Failure | undefined)?.$metadata?.httpStatusCode;

/** The server has answered, and not the network. */
export const isAnswer = (error: unknown) => statusOf(error) !== undefined;

/** There is no object with this key. The 404 of a proxy, which has no id of S3, proves nothing. */
export function isMissing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === 'NoSuchKey' || (error.name === 'NotFound' && !isUnproved(error));
}

/** A 404 without a body that nobody has signed: perhaps a server that gives its answers no ids. */
export function isUnproved(error: unknown): boolean {
  return statusOf(error) === 404 && (error as Failure).$metadata?.requestId === undefined;
}

/** The object is not as the condition of a write demands, or is being written by somebody else. */
export function isConflict(error: unknown): boolean {
  const isGone = error instanceof Error && error.name === 'NoSuchUpload';
  return isGone || isMissing(error) || [409, 412].includes(statusOf(error) ?? 0);
}

/** Another write of the same object is under way. */
export const isBusy = (error: unknown) => statusOf(error) === 409;

/** @returns the same error for an abort, and for one that is named already */
export function bucketError(error: unknown, address: string): unknown {
  if (error instanceof SandflowError || !(error instanceof Error) || error.name === 'AbortError') return error;
  const problem = connectionProblemOf(error);
  const fail = (code: Code, text: string) => new SandflowError(code, `The store ${address} ${text}.`, { cause: error });
  if (problem) return fail('store_unreachable', `cannot be reached: ${problem.text}. ${withoutStop(problem.mend)}`);
  const { name, code, message } = error as Failure;
  const status = statusOf(error);
  const [kind, text] = faultOf([name, code, message, String(status)]);
  // The message of an answer is the server's own.
  const detail = status === undefined ? message.replaceAll(/\s+/g, ' ').trim() : name;
  return fail(kind, `${text} (${detail})`);
}

const withoutStop = (sentence: string) => sentence.replace(/\.$/, '');
