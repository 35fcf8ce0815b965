/** The calls of a probe. Each is answered unparsed, and only its line is kept: method, path, status and request id. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { SandboxClient } from '../../../client/index.js';
import { type EndpointName, endpoints } from '../../../contract/endpoints/endpoints.js';
import { currentErrorCode } from '../../../contract/workflow-safe/error-codes.js';
import { anySignal, timeLimit } from '../../../os/any-signal.js';
import { parseJson } from '../../../texts/parse-json.js';
import { readWhole } from '../../connect/answer-text.js';

/** An assumption does not hold. */
export class Refuted extends Error {}
/** Nothing can be said of an assumption. If an answer is the reason, `cause` is its status. */
export class NotTried extends Error {}

export function want(holds: boolean, why: string): void {
  if (!holds) throw new Refuted(why);
}

export interface Seen {
  readonly status: number;
  readonly isOk: boolean;
  /** Of an error; `none` without one. */
  readonly code: string;
  readonly text: string;
  readonly header: (name: string) => string | undefined;
  /** ms since the epoch. */
  readonly sentAt: number;
  readonly at: number;
  /** A field, like `sandbox.state`. */
  readonly of: (path: string) => unknown;
  /** The rows of a list. */
  readonly rows: (path: string) => readonly Readonly<Record<string, unknown>>[];
  /** The names of its fields. */
  readonly fields: string;
}

/** `id` is the first parameter of the path, and `of` the second. */
export interface Parts {
  readonly id?: string | undefined;
  readonly of?: unknown;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly body?: object;
  readonly confirm?: boolean;
  readonly key?: string;
}

export type Call = (endpoint: EndpointName, parts?: Parts) => Promise<Seen>;

/** What the calls of a run have shown besides. */
export interface Observed {
  readonly lines: string[];
  readonly otherAnswers: Set<string>;
  readonly pauses: (string | undefined)[];
}

const longestMs = 30_000;

/** @throws NotTried for an answer about the key, the account or a failure; what the client throws */
export async function ask(
  client: SandboxClient,
  endpoint: EndpointName,
  { id = '', of = '', query, body, confirm, key }: Parts = {},
  { observed, signal }: { readonly observed: Observed; readonly signal: AbortSignal },
): Promise<Seen> {
  const { method, path, status: expected, type } = endpoints[endpoint];
  const ids = [id, String(of)];
  const filled = path.replace(/\{\w+\}/g, () => encodeURIComponent(ids.shift() ?? '')) as `/${string}`;
  const confirmDelete = confirm ? id : undefined;
  const sent = { method, path: filled, query, body: body && JSON.stringify(body), idempotencyKey: key, confirmDelete };
  for (let left = 2; ; left -= 1) {
    const sentAt = Date.now();
    const ends = anySignal([signal, timeLimit(longestMs)]);
    const { status, header, body: stream } = await client.request(sent, { timeoutMs: longestMs, signal: ends });
    const text = (await readWhole(stream)).toString('utf8');
    const parsed = parseJson(text);
    const fieldOf = (name: string) => name.split('.').reduce(fieldIn, parsed);
    const code = currentErrorCode(wordOf(fieldOf('code') ?? fieldOf('error.code'), 'none'));
    const requestId = wordOf(fieldOf('requestId') ?? header('x-request-id'), '');
    observed.lines.push(`${method} ${filled} ${status} ${requestId}`.trimEnd());
    if (status === 429) observed.pauses.push(header('retry-after'));
    if (status === 429 && left > 0) {
      await sleep(Math.min(longestMs, 1_000 * (Number(header('retry-after')) || 2)), undefined, { signal });
      continue;
    }
    if ([401, 402, 403, 429].includes(status) || status >= 500)
      throw new NotTried(`the answer is ${status} ${code}`, { cause: status });
    const isOk = status >= 200 && status < 300;
    if (isOk && status !== expected) observed.otherAnswers.add(`${endpoint} answers ${status}, not ${expected}`);
    if (isOk && type && fieldOf('type') !== type) observed.otherAnswers.add(`${endpoint} is not of type ${type}`);
    return {
      ...{ status, isOk, code, text, header, sentAt, at: Date.now(), of: fieldOf },
      rows: (name) => [fieldOf(name)].flat().filter((row) => typeof row === 'object' && row !== null) as [],
      fields: Object.keys(Object(parsed))
        .map((name) => wordOf(name, '?'))
        .join(', '),
    };
  }
}

/** Refutes unless the answer has the form of its row of the contract. Tells no value. */
export function wantForm(endpoint: EndpointName, seen: Seen): Seen {
  want(seen.isOk, `the answer is ${seen.status} ${seen.code}`);
  const [issue] = endpoints[endpoint].response.safeParse(parseJson(seen.text)).error?.issues ?? [];
  const field = issue?.path.join('.') ?? '';
  want(issue === undefined, `${field} is ${kindOf(seen.of(field))}; the answer has ${seen.fields}`);
  return seen;
}

const fieldIn = (value: unknown, name: string) => (Object(value) as Readonly<Record<string, unknown>>)[name];

/** Only a word of the service is printed: any other text may be content. */
export function wordOf(value: unknown, otherwise: string): string {
  return typeof value === 'string' && /^[\w.-]{1,40}$/.test(value) ? value : otherwise;
}

export function kindOf(value: unknown): string {
  if (value == null) return value === null ? 'null' : 'missing';
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}
