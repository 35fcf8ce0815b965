/** Makes requests in the form that the service takes. */
import { createHash } from 'node:crypto';
import { isHeaderPrefix, ownHeaderPrefix, type RequestForm } from '../contract/request-form.js';
import { SandflowError } from '../errors/sandflow-error.js';

const shaped: ReadonlySet<string> = new Set(['createSandbox', 'forkSandbox']);

/** The body of a request without the fields that it leaves out. */
export function bodyIn({ omit = [] }: RequestForm, endpoint: string, body: object): object {
  if (omit.length === 0 || !shaped.has(endpoint)) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => !(omit as readonly string[]).includes(name)));
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** The idempotency key that stands for `key`: always the same. */
export function idempotencyKeyIn({ uuidKeys = false }: RequestForm, key: string): string {
  if (!uuidKeys || uuid.test(key)) return key;
  const hex = createHash('sha256').update(key).digest('hex');
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `5${hex.slice(13, 16)}`,
    `a${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return parts.join('-');
}

/** @throws SandflowError `bad_argument` for a prefix that names of headers cannot have */
export function requireForm({ headerPrefix = ownHeaderPrefix }: RequestForm): void {
  if (isHeaderPrefix(headerPrefix.toLowerCase())) return;
  throw new SandflowError('bad_argument', 'headerPrefix must end with a hyphen, like X-Svc-.');
}
