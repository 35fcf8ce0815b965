import { join } from 'node:path';
import Libsql from 'libsql';
import { expect, it, onTestFinished } from 'vitest';
import { createClock } from '../../../src/local-service/clock.js';
import { openDatabase } from '../../../src/local-service/store/database.js';
import { createStores } from '../../../src/local-service/store/stores.js';
import { emptyDirectory } from '../service-under-test.js';

/** The tables of layout 2 that layout 3 changed, with a row in each. */
const layout2 = `
  CREATE TABLE snapshots (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, sandboxId TEXT NOT NULL, name TEXT UNIQUE,
    sizeBytes INTEGER NOT NULL, completedAt TEXT NOT NULL, expired INTEGER NOT NULL DEFAULT 0);
  CREATE INDEX snapshots_of_sandbox ON snapshots (sandboxId, seq);
  CREATE TABLE deletions (
    id TEXT PRIMARY KEY, sandboxId TEXT NOT NULL, status TEXT NOT NULL, requestedAt TEXT NOT NULL, completedAt TEXT,
    error TEXT);
  CREATE TABLE idempotency_keys (
    key TEXT PRIMARY KEY, bodyHash TEXT NOT NULL, sandboxId TEXT, claimedAt INTEGER NOT NULL);
  CREATE TABLE webhooks (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, url TEXT NOT NULL,
    events TEXT NOT NULL, secret TEXT NOT NULL, createdAt TEXT NOT NULL);
  INSERT INTO snapshots (id, sandboxId, name, sizeBytes, completedAt) VALUES ('snap_1', 'bx_1', 'base', 7, '2026-01-02');
  INSERT INTO deletions VALUES ('del_1', 'bx_2', 'pending', '2026-01-02', NULL, NULL);
  INSERT INTO webhooks VALUES (1, 'wh_1', 'mine', 'http://127.0.0.1:1/', '["sandbox.ready"]', 'secret', '2026-01-02');
  INSERT INTO idempotency_keys VALUES ('key-1', 'hash', 'bx_1', 5);
  PRAGMA user_version = 2;`;

function openStores(directory: string) {
  const database = openDatabase(directory);
  onTestFinished(() => database.close());
  return { database, stores: createStores(database, createClock()) };
}

it('a database of the previous layout keeps its snapshots, deletions, webhooks and keys', async () => {
  const directory = await emptyDirectory();
  const old = new Libsql(join(directory, 'service.db'));
  old.exec(layout2);
  old.close();
  const { stores } = openStores(directory);
  const snapshot = { id: 'snap_1', ownerId: 'acct_local', name: 'base', createdAt: '2026-01-02', deleted: 0 };
  expect(stores.snapshots.named('base')).toMatchObject([snapshot]);
  expect(stores.snapshots.of('bx_1')).toHaveLength(1);
  expect(stores.deletions.openOf('bx_2')).toMatchObject({ id: 'del_1', snapshotId: null });
  stores.webhooks.load();
  expect(stores.webhooks.of('acct_local')).toMatchObject([{ id: 'wh_1', events: ['sandbox.ready'] }]);
  expect(stores.idempotency.get('acct_local key-1')).toMatchObject({ bodyHash: 'hash', sandboxId: 'bx_1' });
});

it('opening a database twice migrates it once', async () => {
  const directory = await emptyDirectory();
  const old = new Libsql(join(directory, 'service.db'));
  old.exec(layout2);
  old.close();
  openDatabase(directory).close();
  expect(openStores(directory).stores.idempotency.get('acct_local key-1')).toBeDefined();
});
