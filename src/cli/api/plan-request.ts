/** Builds the request of `sandflow api`, and checks it before anything is started. */
import { resolve } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import type { PlainRequest } from '../../client/index.js';
import { parseJson, withoutMark } from '../../texts/parse-json.js';
import type { CliIo } from '../io.js';
import { isStdin, readTextOrFile } from '../run/read-prompts.js';
import { readTextFile } from '../text-file.js';
import { UsageError } from '../usage-error.js';
import type { ApiOptions } from './options.js';

type RequestOptions = Pick<ApiOptions, 'field' | 'query' | 'body' | 'confirm'>;

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** @throws UsageError */
export async function planRequest(
  method: string,
  address: string,
  options: RequestOptions,
  io: Pick<CliIo, 'stdin' | 'cwd'>,
): Promise<PlainRequest> {
  const known = methods.find((one) => one === method.toUpperCase());
  if (!known) throw new UsageError(`"${method}" is not an HTTP method. Use one of ${methods.join(', ')}.`);
  const { path, inAddress } = readAddress(address);
  const query = onlyOnce([...inAddress, ...options.query.map((pair) => readPair(pair, '--query'))], '--query');
  const body = await readBody(options, io);
  if (body !== undefined && (known === 'GET' || known === 'DELETE')) {
    throw new UsageError(`${known} takes no body. Use --query instead of fields and --body.`);
  }
  return { method: known, path, query, body, confirmDelete: readConfirmation(known, path, options.confirm) };
}

function readAddress(address: string): { readonly path: `/${string}`; readonly inAddress: readonly Pair[] } {
  if (/^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(address)) {
    throw new UsageError(`"${address}" is not a path. Use one relative to SANDBOX_API_URL, like /sandboxes.`);
  }
  const [before = '', ...after] = address.split('?');
  const path = `/${before.replace(/^\//, '').replace(/\/$/, '')}` as const;
  const unfilled = /\{\w+\}/.exec(path);
  if (unfilled) throw new UsageError(`${path}: replace ${unfilled[0]} with an id.`);
  if (/[^\x21-\x7e]|[#\\]|%(?![0-9a-f]{2})/i.test(path)) {
    throw new UsageError(`${path}: escape spaces, #, \\, % and non-ASCII characters, like %20.`);
  }
  if (
    path
      .slice(1)
      .split('/')
      .some((segment) => /^(?:\.|%2e){0,2}$/i.test(segment))
  ) {
    throw new UsageError(`"${address}": a path segment must not be empty, "." or "..".`);
  }
  return { path, inAddress: [...new URLSearchParams(after.join('?'))] };
}

type Pair = readonly [name: string, value: string];

/** @throws UsageError for a name that occurs twice: only one of its values could be sent */
function onlyOnce(pairs: readonly Pair[], option: string): Record<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of pairs) {
    if (values.has(name)) throw new UsageError(`${option}: ${name} occurs twice. Give each name once.`);
    values.set(name, value);
  }
  return Object.fromEntries(values);
}

function readPair(pair: string, option: string): Pair {
  const at = pair.indexOf('=');
  if (at < 1) throw new UsageError(`${option}: "${pair}" is not KEY=VALUE.`);
  return [pair.slice(0, at), pair.slice(at + 1)];
}

async function readBody(
  { field, body }: RequestOptions,
  io: Pick<CliIo, 'stdin' | 'cwd'>,
): Promise<string | undefined> {
  if (body === undefined) return field.length === 0 ? undefined : bodyOf(field, io.cwd);
  if (field.length > 0) throw new UsageError('Use --field or --body, not both.');
  const written = isStdin(body) ? await textOf(io.stdin) : await readTextFile(resolve(io.cwd, body), `--body: ${body}`);
  const json = withoutMark(written);
  if (parseJson(json) === undefined)
    throw new UsageError(`--body: ${isStdin(body) ? 'stdin' : body} is not valid JSON.`);
  return json;
}

/** The text is put together here, because `JSON.stringify` rounds long numbers. */
async function bodyOf(given: readonly string[], cwd: string): Promise<string> {
  const pairs = given.map((pair) => readPair(pair, '--field'));
  const fields = Object.entries(onlyOnce(pairs, '--field')).map(
    async ([name, value]) => `${JSON.stringify(name)}:${await typedJson(value, cwd)}`,
  );
  return `{${(await Promise.all(fields)).join(',')}}`;
}

/**
 * A value that is JSON is sent as it is written. A number that would be written differently, such as `12e45678` or
 * `1.10`, is more likely a name or a version: it is text. So is a value with blanks around it, except for a list or an
 * object.
 */
async function typedJson(value: string, cwd: string): Promise<string> {
  const text = value.startsWith('@') ? await readTextOrFile(value, '--field', cwd) : value;
  const parsed = text === value ? parseJson(value) : undefined;
  const isWhole = value === value.trim() || /^\s*[[{]/.test(value);
  const isText = parsed === undefined || !isWhole || (typeof parsed === 'number' && String(parsed) !== value);
  return isText ? JSON.stringify(text) : value;
}

/** A DELETE must repeat its id, so that a script that builds a wrong path deletes nothing. */
function readConfirmation(method: string, path: string, confirm: string | undefined): string | undefined {
  if (method !== 'DELETE') {
    if (confirm !== undefined) throw new UsageError('--confirm requires DELETE.');
    return undefined;
  }
  const id = path.slice(path.lastIndexOf('/') + 1);
  if (confirm === undefined) throw new UsageError(`DELETE cannot be undone. Confirm with: --confirm ${id}`);
  if (confirm !== id)
    throw new UsageError(`--confirm: "${confirm}" does not match "${id}", the id at the end of the path.`);
  return id;
}
