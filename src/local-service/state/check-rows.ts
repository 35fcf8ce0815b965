/**
 * Checks the rows of an imported database. Later code trusts these rows: ids become names of folders, times become
 * dates, and documents are read without a schema. A single bad row would make every later command fail, even `local
 * reset`.
 */
import { z } from 'zod';
import { sandboxTypes } from '../../contract/records/sandbox-records.js';
import { depthExceeds } from '../../contract/texts/depth-exceeds.js';
import { promptStatuses, sandboxStates, stopStatuses } from '../../contract/workflow-safe/states.js';
import { isMachineId } from '../machine/index.js';
import type { Database } from '../store/database.js';
import { tables } from '../store/schema.js';
import { workKinds } from '../store/work-store.js';
import { badArchive } from './unpack.js';

/** The latest time of a `Date`, in ms. It is also a limit for row numbers, which leaves room for further rows. */
const maxNumber = 8.64e15;

/**
 * A request may be nested 64 levels deep, and a record adds a few levels. Writing a much deeper record would overflow
 * the stack.
 */
const maxDepth = 100;

const idSchema = z.string().refine(isMachineId, 'is not an id');
const timeSchema = z.string().refine((text) => !Number.isNaN(Date.parse(text)), 'is not a time');
const momentSchema = z.number().min(-maxNumber).max(maxNumber);

/** The fields that the service itself uses, rather than only showing them. */
const sandboxSchema = z.looseObject({
  id: idSchema,
  ownerId: z.string(),
  name: z.string(),
  state: z.enum(sandboxStates),
  type: z.enum(sandboxTypes),
  ttlSeconds: momentSchema.nullable(),
  archiveAfter: timeSchema.nullable(),
  secretFilePaths: z.array(z.string()),
  createdAt: timeSchema,
  updatedAt: timeSchema,
  dataExpiredAt: timeSchema.nullable(),
  hydratedAt: timeSchema.nullable(),
  hydrationStartedAt: timeSchema.nullable(),
  sshKeys: z.array(z.looseObject({ accountId: z.string(), publicKey: z.string() })),
  snapshotId: idSchema.nullable(),
  pendingSnapshotId: idSchema.nullable(),
  restoreFrom: idSchema.nullable(),
  setupScript: z.string().nullable(),
  setupStatus: z.enum(['pending', 'running', 'done', 'failed']).nullable(),
  subdomain: z.string(),
  stop: z.looseObject({ id: z.string(), status: z.enum(stopStatuses), requestedAt: timeSchema }).nullable(),
  epoch: z.number().int().max(maxNumber),
  meter: z.looseObject({ month: z.string(), seconds: z.number(), runningSince: timeSchema.nullable() }),
  gone: z.enum(['cancelled', 'reported', 'deleting', 'deleted']).nullable(),
});

const credentialSchema = z.looseObject({
  id: z.string(),
  accountId: z.string(),
  kind: z.enum(['api_key', 'session', 'sandbox']),
  hash: z.string(),
  scope: z
    .looseObject({
      actions: z.array(z.string()),
      sandboxIds: z.array(z.string()).nullable(),
      environmentIds: z.array(z.string()).nullable(),
    })
    .nullable(),
  expiresAt: timeSchema.nullable(),
  revokedAt: timeSchema.nullable(),
});

const environmentSchema = z.looseObject({
  envContents: z.string(),
  secretFiles: z.array(z.looseObject({ path: z.string(), contents: z.string() })),
  selectedRepositories: z.array(z.looseObject({ name: z.string() })),
});

const anything = z.unknown();
const accountSchema = z.looseObject({ id: z.string(), login: z.string(), teamId: z.string().nullable() });

/** The columns that hold JSON, and what it must be. */
const documents: Readonly<Record<string, Readonly<Record<string, z.ZodType>>>> = {
  history: { data: z.looseObject({}) },
  webhooks: { events: z.array(z.string()) },
  webhook_events: { body: anything },
  faults: { specification: z.looseObject({ kind: z.string() }) },
  environment_versions: { content: environmentSchema },
  process_samples: { processes: z.array(z.looseObject({})) },
  accounts: { document: accountSchema },
  teams: { document: z.looseObject({ id: z.string(), name: z.string() }) },
  credentials: { document: credentialSchema },
  settings: { document: anything },
  calls: { document: z.looseObject({}) },
};

/** Columns in which only certain texts are valid. */
const texts: Readonly<Record<string, Readonly<Record<string, z.ZodType>>>> = {
  snapshots: { id: idSchema, createdAt: timeSchema, completedAt: timeSchema },
  prompts: { status: z.enum(promptStatuses), queuedAt: timeSchema },
  stops: { status: z.enum(stopStatuses), requestedAt: timeSchema },
  deletions: { status: z.enum(['pending', 'running', 'completed', 'failed']) },
  deliveries: { status: z.enum(['queued', 'delivered', 'exhausted']) },
  work: { kind: z.enum(workKinds), subject: idSchema },
};

const clockSchema = z.object({ aheadMs: momentSchema, heldAt: momentSchema.nullable() });

type Row = Readonly<Record<string, unknown>>;

/**
 * @param database one with our own schema, so that a type that the archive declares counts for nothing
 * @throws ServiceError `bad_archive`
 */
export function checkRows(database: Database): void {
  for (const table of tables) {
    checkTypes(database, table);
    const [json, plain] = [documents[table] ?? {}, texts[table] ?? {}];
    const columns = Object.keys({ ...json, ...plain });
    if (columns.length === 0) continue;
    for (const row of rowsOf(database, table, columns)) {
      for (const [column, schema] of Object.entries(json)) {
        check(table, row, { schema, column, value: () => JSON.parse(String(row[column])) });
      }
      for (const [column, schema] of Object.entries(plain)) {
        check(table, row, { schema, column, value: () => row[column] });
      }
    }
  }
  checkSandboxes(database);
  for (const row of database.prepare<Row>("SELECT rowid AS row, document FROM settings WHERE name = 'clock'").all()) {
    check('settings', row, { schema: clockSchema, column: 'document', value: () => JSON.parse(String(row.document)) });
  }
}

/** SQLite stores bytes, or a number of any size, in any column. */
function checkTypes(database: Database, table: string): void {
  const columns = database
    .prepare<{ name: string; type: string }>(`SELECT name, type FROM pragma_table_info('${table}')`)
    .all();
  for (const { name, type } of columns) {
    const isNumber = `typeof(${name}) = 'integer' AND ${name} BETWEEN -${maxNumber} AND ${maxNumber}`;
    const fits = type === 'INTEGER' ? isNumber : `typeof(${name}) = 'text'`;
    const [row] = database
      .prepare<Row>(`SELECT rowid AS row FROM ${table} WHERE ${name} IS NOT NULL AND NOT (${fits}) LIMIT 1`)
      .all();
    if (row)
      throw badRow(table, row, { column: name, what: `is not ${type === 'INTEGER' ? 'a whole number' : 'text'}` });
  }
}

function checkSandboxes(database: Database): void {
  for (const row of rowsOf(database, 'sandboxes', ['id', 'name', 'gone', 'document'])) {
    const { id, name, gone, document } = row;
    const schema = sandboxSchema.extend({
      id: idSchema.refine((own) => own === id, 'differs from its row'),
      name: z.literal(name as string),
      gone: sandboxSchema.shape.gone.refine((own) => own === gone, 'differs from its row'),
    });
    check('sandboxes', row, { schema, column: 'document', value: () => JSON.parse(String(document)) });
  }
}

/** A few rows at a time: a history may be larger than memory. */
function* rowsOf(database: Database, table: string, columns: readonly string[]): Generator<Row> {
  const page = database.prepare<Row & { readonly row: number }>(
    `SELECT rowid AS row, ${columns} FROM ${table} WHERE rowid > ? ORDER BY rowid LIMIT 200`,
  );
  for (let last = -maxNumber; ; ) {
    const rows = page.all(last);
    yield* rows;
    const end = rows.at(-1);
    if (!end) return;
    last = end.row;
  }
}

function check(
  table: string,
  row: Row,
  { schema, column, value }: { readonly schema: z.ZodType; readonly column: string; readonly value: () => unknown },
): void {
  let found: unknown;
  try {
    found = value();
  } catch {
    throw badRow(table, row, { column, what: 'cannot be read' });
  }
  if (depthExceeds(found, maxDepth)) throw badRow(table, row, { column, what: 'is nested too deeply' });
  const [issue] = schema.safeParse(found).error?.issues ?? [];
  if (issue) throw badRow(table, row, { column: issue.path.join('.') || column, what: issue.message });
}

/** Names no value, which may be a secret or very long. */
function badRow(table: string, row: Row, { column, what }: { readonly column: string; readonly what: string }) {
  const place = `the row ${row.row} of ${table} holds a bad "${column}" (${what})`;
  return badArchive(`${place}, which no local service writes. Export again from the service that has the state.`);
}
