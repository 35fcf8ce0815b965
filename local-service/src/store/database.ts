/**
 * One SQLite database, which one process at a time can open. It uses WAL, so that commits survive kill -9 without an
 * fsync for each.
 */
import { join } from 'node:path';
import Libsql from 'libsql';
import { SandflowError } from '../../../src/errors/sandflow-error.js';
import { reasonOf } from '../log.js';
import { schema, schemaVersion, tables } from './schema.js';

/** The values that may be bound. Booleans are excluded, because the driver aborts the process if it gets one. */
type SqlValue = string | number | null;

interface Statement<Row> {
  run(...values: readonly SqlValue[]): { readonly changes: number; readonly lastInsertRowid: number };
  get(...values: readonly SqlValue[]): Row | undefined;
  all(...values: readonly SqlValue[]): Row[];
}

export interface Database {
  prepare<Row = unknown>(sql: string): Statement<Row>;
  /** Runs `change` in a transaction; inside another transaction it is part of that one. */
  transaction<Result>(change: () => Result): Result;
  /** Calls `undo` if the current transaction fails, to undo a change in memory. */
  onRollback(undo: () => void): void;
  /** Calls `then` once the current transaction is committed; at once if there is none. */
  afterCommit(then: () => void): void;
  /** Empties every table. */
  clear(): void;
  close(): void;
}

/**
 * Opens the database of a directory, or creates it.
 * @throws SandflowError `directory_in_use` while another process has it open, `database_of_other_version` for another layout
 */
export function openDatabase(directory: string): Database {
  const sql = new Libsql(join(directory, 'service.db'), { timeout: 2 });
  try {
    sql.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
    createTables(sql, directory);
  } catch (cause) {
    sql.close();
    if (cause instanceof SandflowError) throw cause;
    const reason = reasonOf(cause);
    const busy = /locked|busy/i.test(reason);
    throw new SandflowError(
      busy ? 'directory_in_use' : 'database_unusable',
      busy
        ? `Another local service is using ${directory}. Stop it, or choose another directory.`
        : `The database in ${directory} cannot be opened: ${reason}`,
      { cause },
    );
  }
  let undos: (() => void)[] | undefined;
  let followers: (() => void)[] = [];

  return {
    prepare<Row>(text: string): Statement<Row> {
      const statement = sql.prepare(text);
      // Values are passed as one array: the driver would take a single null or object for named parameters.
      return {
        run: (...values) => {
          const { changes, lastInsertRowid } = statement.run([...values]);
          return { changes, lastInsertRowid: Number(lastInsertRowid) };
        },
        // The driver adds its own `_metadata` to a single row, so this reads a list.
        get: (...values) => (statement.all([...values]) as Row[])[0],
        all: (...values) => statement.all([...values]) as Row[],
      };
    },
    transaction(change) {
      if (undos) return change();
      undos = [];
      followers = [];
      sql.exec('BEGIN IMMEDIATE');
      let result: ReturnType<typeof change>;
      try {
        result = change();
        sql.exec('COMMIT');
      } catch (cause) {
        for (const undo of undos.reverse()) undo();
        undos = undefined;
        if (sql.inTransaction) sql.exec('ROLLBACK');
        throw cause;
      }
      undos = undefined;
      const due = followers;
      followers = [];
      for (const then of due) then();
      return result;
    },
    onRollback(undo) {
      undos?.push(undo);
    },
    afterCommit(then) {
      if (undos) followers.push(then);
      else then();
    },
    clear() {
      for (const table of tables) sql.exec(`DELETE FROM ${table}`);
    },
    close() {
      if (!sql.open) return;
      // The driver holds the file open until its statements are garbage-collected, so the lock is released explicitly.
      // SQLite releases it at the next read after both changes, in this order.
      for (const text of [
        'PRAGMA journal_mode = DELETE',
        'PRAGMA locking_mode = NORMAL',
        'SELECT count(*) FROM work',
      ]) {
        sql.prepare(text).all([]);
      }
      sql.close();
    },
  };
}

function createTables(sql: InstanceType<typeof Libsql>, directory: string): void {
  const { user_version: layout } = sql.prepare('PRAGMA user_version').get([]) as { user_version: number };
  // A new database has layout 0.
  if (layout !== 0 && layout !== schemaVersion) {
    throw new SandflowError(
      'database_of_other_version',
      `The database in ${directory} has layout ${layout}, and this version of sandflow reads only layout ${schemaVersion}. Use the version that wrote it, or start with another or an empty directory.`,
    );
  }
  // All or nothing: half of the tables could not be opened again.
  sql.exec('BEGIN IMMEDIATE');
  try {
    sql.exec(schema);
    sql.exec(`PRAGMA user_version = ${schemaVersion}`);
    sql.exec('COMMIT');
  } catch (cause) {
    if (sql.inTransaction) sql.exec('ROLLBACK');
    throw cause;
  }
}
