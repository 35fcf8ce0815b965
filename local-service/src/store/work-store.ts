/**
 * Work to be done later. It is stored in the transaction that makes it necessary and removed once it is done, so a
 * killed service continues where it was. Each kind of work is safe to repeat.
 */
import type { Database } from './database.js';

export const workKinds = [
  'boot',
  'hydrate',
  'setup',
  'archive',
  'auto_stop',
  'snapshot',
  'delete',
  'expire_data',
  'drop_snapshot',
  'ssh',
  'recover',
  'housekeeping',
] as const;
export type WorkKind = (typeof workKinds)[number];

export interface Work {
  /** New with every replacement. */
  readonly seq: number;
  readonly key: string;
  readonly kind: WorkKind;
  /** A sandbox id, as a rule. */
  readonly subject: string;
  /** Identifies the reason of the work, such as an epoch. If the token is no longer current, there is nothing to do. */
  readonly token: string;
  readonly dueAt: number;
}

export type WorkStore = ReturnType<typeof createWorkStore>;

export function createWorkStore(database: Database) {
  const put = database.prepare('INSERT OR REPLACE INTO work (key, kind, subject, token, dueAt) VALUES (?, ?, ?, ?, ?)');
  const cancel = database.prepare('DELETE FROM work WHERE key = ?');
  const cancelAll = database.prepare(
    `DELETE FROM work WHERE key IN (${workKinds.map((kind) => `'${kind}:' || ?1`).join(', ')})`,
  );
  const done = database.prepare('DELETE FROM work WHERE seq = ?');
  const postpone = database.prepare('UPDATE work SET dueAt = ? WHERE seq = ?');
  const next = database.prepare<Work>('SELECT * FROM work ORDER BY dueAt, seq LIMIT ?');
  return {
    /** Adds work, in place of work of the same kind and subject. */
    put: (kind: WorkKind, subject: string, token: string, dueAt: number) =>
      void put.run(`${kind}:${subject}`, kind, subject, token, dueAt),
    cancel: (kind: WorkKind, subject: string) => void cancel.run(`${kind}:${subject}`),
    cancelAll: (subject: string) => void cancelAll.run(subject),
    /** Removes work that is done, unless it was replaced meanwhile. */
    done: (work: Work) => void done.run(work.seq),
    /** Makes work that has failed due again, unless it was replaced meanwhile. */
    postpone: (work: Work, dueAt: number) => void postpone.run(dueAt, work.seq),
    /** The earliest work, due or not. */
    next: (limit: number) => next.all(limit),
  };
}
