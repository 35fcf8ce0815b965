/** Checks every answer that a test receives against the contract and the strict envelope of the specification. */
import { type Endpoint, endpoints } from '../../../../src/contract/endpoints/endpoints.js';
import { strictError, strictRecords } from './strict-records.js';

const rows: readonly (Endpoint & { readonly pattern: RegExp })[] = Object.values<Endpoint>(endpoints).map((row) => ({
  ...row,
  pattern: new RegExp(`^${row.path.replace(/\{\w+\}/g, '[^/]+')}$`),
}));

function rowOf(method: string, path: string): Endpoint | undefined {
  const [plain = ''] = path.split('?');
  const found = rows.filter((row) => row.method === method && row.pattern.test(plain));
  return found.find((row) => row.path === plain) ?? found[0];
}

interface Received {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** Undefined if the answer is not JSON. */
  readonly json: unknown;
  readonly contentType: string;
}

/** @throws Error with the answer and the violated rule */
export function checkAnswer(received: Received): void {
  const { method, path, status, json, contentType } = received;
  const call = `${method} ${path} answered ${status}`;
  const check = (schema: { safeParse(value: unknown): { success: boolean; error?: Error } }): void => {
    const parsed = schema.safeParse(json);
    if (!parsed.success) throw new Error(`${call} with ${JSON.stringify(json)}: ${parsed.error?.message}`);
  };
  if (status >= 400) {
    check(strictError(status));
    return;
  }
  const row = rowOf(method, path);
  if (row === undefined) throw new Error(`${call}, and no endpoint of the contract has this path.`);
  if (status !== row.status) throw new Error(`${call}; the contract says ${row.status}.`);
  if (!contentType.startsWith('application/json')) {
    if (row.raw) return;
    throw new Error(`${call} with ${contentType || 'no content type'} in place of JSON.`);
  }
  check(row.response);
  check(strictRecords);
  const { ok, success, type } = json as { readonly ok?: unknown; readonly success?: unknown; readonly type?: unknown };
  if (row.type === null) {
    if (success !== true) throw new Error(`${call} without success: true.`);
  } else if (ok !== true || type !== row.type) {
    throw new Error(`${call} with ok ${String(ok)} and type ${String(type)}; the contract says ${row.type}.`);
  }
}
