/** Checks a request against the endpoint table. */

import type { z } from 'zod';
import type { Endpoint } from '../../../src/contract/endpoints/endpoints.js';
import { confirmDeleteHeader, idempotencyKeyHeader } from '../../../src/contract/requests/sandbox-requests.js';
import { isSandboxId } from '../../../src/contract/workflow-safe/ids.js';
import { checkInput, type InputProblem, problemLine } from '../../../src/settings/input-problems.js';
import { invalidRequest, ServiceError, sandboxNotFound } from '../service-error.js';

const maxIdempotencyKeyLength = 255;

export interface RawInput {
  readonly params: Readonly<Record<string, string>>;
  readonly query: unknown;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

interface ParsedInput {
  readonly params: Readonly<Record<string, string>>;
  readonly query: unknown;
  readonly body: unknown;
  readonly sentBody: unknown;
  readonly idempotencyKey: string | undefined;
}

/** @throws ServiceError 400 that names the wrong field; 404 for an id that no sandbox can have */
export function parseInput(endpoint: Endpoint, raw: RawInput): ParsedInput {
  const { params } = raw;
  if (params.sandboxId !== undefined && !isSandboxId(params.sandboxId)) throw sandboxNotFound(params.sandboxId);
  if (endpoint.confirmDelete) requireConfirmation(raw);
  return {
    params,
    query: endpoint.query ? parse(endpoint.query, raw.query, 'query') : undefined,
    body: endpoint.body ? parseBody(endpoint.body, raw.body, endpoint.bodyOptional ?? false) : undefined,
    sentBody: raw.body ?? {},
    idempotencyKey: endpoint.idempotent ? idempotencyKeyOf(raw.headers[idempotencyKeyHeader]) : undefined,
  };
}

/**
 * Parses a part of a request to `/_local`.
 * @param options.message replaces the message that names the field and its problem
 * @throws ServiceError 400 `invalid_request`
 */
export function read<Output>(
  schema: z.ZodType<Output>,
  value: unknown,
  { root = 'body', message }: { readonly root?: string; readonly message?: string } = {},
): Output {
  const { data, problems } = checkInput(schema, value);
  if (problems === null) return data;
  const [problem] = problems;
  throw invalidRequest(message ?? lineOf(problem, root));
}

function parseBody(schema: z.ZodObject, body: unknown, optional: boolean): unknown {
  if (body === undefined && !optional) {
    throw new ServiceError(400, 'invalid_json', 'The request requires a JSON body.');
  }
  return parse(schema, body === undefined ? {} : body, 'body');
}

function parse(schema: z.ZodObject, value: unknown, root: 'body' | 'query'): unknown {
  const { data, problems } = checkInput(schema, value);
  if (problems === null) return data;
  const [problem] = problems;
  throw new ServiceError(400, codeFor(problem?.path.join('.') ?? '', value), lineOf(problem, root));
}

/** @param root the name that a message uses if the problem concerns the whole value */
function lineOf(problem: InputProblem | undefined, root: string): string {
  if (problem === undefined) return 'The request is malformed.';
  const { path, message } = problem;
  return problemLine({ path: path.length === 0 ? [root] : path, message });
}

/** The specification has separate codes for two fields: the name of a sandbox or snapshot, and the prompt. */
function codeFor(field: string, value: unknown): string {
  if (field === 'name' || field === 'snapshotName') return 'invalid_name';
  const missing = typeof value === 'object' && value !== null && !('prompt' in value);
  return field === 'prompt' && missing ? 'prompt_required' : 'invalid_request';
}

function requireConfirmation({ params, headers }: RawInput): void {
  const id = params.sandboxId ?? params.snapshotId;
  if (headers[confirmDeleteHeader] === id) return;
  const message = `Deletion cannot be undone. Confirm it with the header X-Svc-Confirm-Delete: ${id}.`;
  throw new ServiceError(400, 'confirmation_required', message);
}

function idempotencyKeyOf(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header === 'string' && header.length <= maxIdempotencyKeyLength && /^[\x21-\x7e]+$/.test(header))
    return header;
  const message = `Idempotency-Key: must be sent once, with 1 to ${maxIdempotencyKeyLength} printable characters and no spaces.`;
  throw invalidRequest(message);
}

/**
 * The JSON of a request body; undefined if there is none.
 * @throws ServiceError `invalid_json`
 */
export function parseJsonBody(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ServiceError(400, 'invalid_json', 'The body is not valid JSON.', { cause });
  }
}
