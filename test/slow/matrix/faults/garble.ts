/** Falsifies answers of the service. Pure. */

export interface ForeignIds {
  readonly sandbox: string;
  readonly stop: string;
  readonly prompt: string;
  readonly conversation: string;
  readonly snapshot: string;
  readonly operation: string;
}

const idKeys = new Set(['id', 'promptId', 'conversationId', 'operationId', 'sandboxId', 'snapshotId', 'stopId']);
/** The envelope, which marks an answer of the service, stays. */
const envelope = new Set(['ok', 'type', 'requestId']);

type Change = (key: string, value: unknown) => unknown;
const remove = Symbol('remove');

/** Changes all fields except objects, lists and the envelope, at every depth. */
function map(value: unknown, change: Change, depth = 0): unknown {
  if (Array.isArray(value)) return value.map((one) => map(one, change, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).flatMap(([key, field]) => {
    if (depth === 0 && envelope.has(key)) return [[key, field]];
    const next = typeof field === 'object' && field !== null ? map(field, change, depth + 1) : change(key, field);
    return next === remove ? [] : [[key, next]];
  });
  return Object.fromEntries(entries);
}

export const withIds = (answer: unknown, idOf: (id: string) => unknown): unknown =>
  map(answer, (key, value) => (idKeys.has(key) && typeof value === 'string' ? idOf(value) : value));

export const withoutIds = (answer: unknown): unknown => withIds(answer, () => remove);

/** Rows of the answer's list; none if it has no list. */
export function rowsOfAnswer(answer: unknown): readonly unknown[] | undefined {
  return Object.values(answer ?? {}).find((part) => Array.isArray(part));
}

/** Leaves only the id of one row readable; `at` is -1 for an additional first row. */
export function withBadRow(answer: unknown, at: number): unknown {
  const [name, rows] = Object.entries(answer ?? {}).find(([, part]) => Array.isArray(part)) ?? [];
  if (name === undefined) return answer;
  const bad = (row: object) => ({ ...(withWrongTypes({ row }) as { row: object }).row, ...idOf(row) });
  const next =
    at === -1 ? [bad({ name: '' }), ...rows] : rows.map((row: object, n: number) => (n === at ? bad(row) : row));
  return { ...(answer as object), [name]: next };
}

const idOf = (row: object) => ('id' in row ? { id: row.id } : {});

export const withWrongTypes = (answer: unknown): unknown =>
  map(answer, (_, value) => (typeof value === 'string' ? 7 : value === null ? value : { not: 'expected' }));

export function withForeignIds(answer: unknown, foreign: ForeignIds): unknown {
  const byPrefix: Readonly<Record<string, string>> = {
    bx: foreign.sandbox,
    stop: foreign.stop,
    prm: foreign.prompt,
    conv: foreign.conversation,
    snap: foreign.snapshot,
    del: foreign.operation,
  };
  return withIds(answer, (id) => byPrefix[id.split('_', 1)[0] ?? ''] ?? id);
}
