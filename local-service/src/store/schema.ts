/** Tables of the local service. Times are milliseconds since the epoch; booleans are 0 and 1. */

/** The layout of the database. Every change of it takes the next number: a database of another layout is refused. */
export const schemaVersion = 1;

export const schema = `
CREATE TABLE IF NOT EXISTS sandboxes (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, gone TEXT, document TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS sandboxes_by_name ON sandboxes (name);
CREATE INDEX IF NOT EXISTS sandboxes_living ON sandboxes (seq) WHERE gone IS NULL;

CREATE TABLE IF NOT EXISTS stops (
  id TEXT PRIMARY KEY, sandboxId TEXT NOT NULL, status TEXT NOT NULL, requestedAt TEXT NOT NULL,
  lastAttemptAt TEXT, error TEXT, endedAt TEXT);
CREATE INDEX IF NOT EXISTS stops_of_sandbox ON stops (sandboxId);

CREATE TABLE IF NOT EXISTS prompts (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, sandboxId TEXT NOT NULL, conversationId TEXT NOT NULL,
  provider TEXT NOT NULL, model TEXT, reasoningEffort TEXT, text TEXT NOT NULL, status TEXT NOT NULL,
  queuedAt TEXT NOT NULL, startedAt TEXT, endedAt TEXT, result TEXT, error TEXT);
CREATE INDEX IF NOT EXISTS prompts_of_sandbox ON prompts (sandboxId, conversationId);
CREATE INDEX IF NOT EXISTS prompts_open ON prompts (sandboxId, seq) WHERE status IN ('queued', 'running');

CREATE TABLE IF NOT EXISTS history (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, sandboxId TEXT NOT NULL, type TEXT NOT NULL, conversationId TEXT NOT NULL,
  promptId TEXT NOT NULL, createdAt INTEGER NOT NULL, data TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS history_of_sandbox ON history (sandboxId, seq);

CREATE TABLE IF NOT EXISTS snapshots (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, sandboxId TEXT NOT NULL, ownerId TEXT NOT NULL,
  name TEXT, sizeBytes INTEGER NOT NULL, createdAt TEXT NOT NULL, completedAt TEXT NOT NULL,
  expired INTEGER NOT NULL DEFAULT 0, deleted INTEGER NOT NULL DEFAULT 0, UNIQUE (ownerId, name));
CREATE INDEX IF NOT EXISTS snapshots_of_sandbox ON snapshots (sandboxId, seq);

CREATE TABLE IF NOT EXISTS deletions (
  id TEXT PRIMARY KEY, sandboxId TEXT NOT NULL, status TEXT NOT NULL, requestedAt TEXT NOT NULL, completedAt TEXT,
  error TEXT, snapshotId TEXT);
CREATE INDEX IF NOT EXISTS deletions_of_sandbox ON deletions (sandboxId);
CREATE INDEX IF NOT EXISTS deletions_of_snapshot ON deletions (snapshotId) WHERE snapshotId IS NOT NULL;

CREATE TABLE IF NOT EXISTS idempotency_keys (
  key TEXT PRIMARY KEY, bodyHash TEXT NOT NULL, sandboxId TEXT, claimedAt INTEGER NOT NULL);

CREATE TABLE IF NOT EXISTS webhooks (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, url TEXT NOT NULL,
  events TEXT NOT NULL, secret TEXT NOT NULL, createdAt TEXT NOT NULL, accountId TEXT NOT NULL,
  legacy INTEGER NOT NULL DEFAULT 0);

CREATE TABLE IF NOT EXISTS webhook_events (
  id TEXT PRIMARY KEY, type TEXT NOT NULL, sandboxId TEXT NOT NULL, body TEXT NOT NULL, createdAt INTEGER NOT NULL);

CREATE TABLE IF NOT EXISTS deliveries (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, eventId TEXT NOT NULL, webhookId TEXT NOT NULL, status TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0, dueAt INTEGER NOT NULL, endedAt INTEGER, fault TEXT);
CREATE INDEX IF NOT EXISTS deliveries_queued ON deliveries (webhookId, dueAt) WHERE status = 'queued';
CREATE INDEX IF NOT EXISTS deliveries_held ON deliveries (webhookId)
  WHERE status = 'queued' AND fault = 'webhook_reorder';
CREATE INDEX IF NOT EXISTS deliveries_of_event ON deliveries (eventId);

CREATE TABLE IF NOT EXISTS delivery_attempts (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, eventId TEXT NOT NULL, type TEXT NOT NULL, webhookId TEXT NOT NULL,
  sandboxId TEXT NOT NULL, attempt INTEGER NOT NULL, sentAt INTEGER NOT NULL, status INTEGER, error TEXT, fault TEXT);
CREATE INDEX IF NOT EXISTS delivery_attempts_of_sandbox ON delivery_attempts (sandboxId);

CREATE TABLE IF NOT EXISTS work (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, subject TEXT NOT NULL,
  token TEXT NOT NULL, dueAt INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS work_due ON work (dueAt);

CREATE TABLE IF NOT EXISTS faults (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, specification TEXT NOT NULL, remaining INTEGER NOT NULL);

CREATE TABLE IF NOT EXISTS environments (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, accountId TEXT NOT NULL, name TEXT NOT NULL,
  isDefault INTEGER NOT NULL, createdAt TEXT NOT NULL, deleted INTEGER NOT NULL DEFAULT 0);
CREATE UNIQUE INDEX IF NOT EXISTS environments_by_name ON environments (accountId, name) WHERE deleted = 0;
CREATE TABLE IF NOT EXISTS environment_versions (
  id TEXT PRIMARY KEY, environmentId TEXT NOT NULL, versionNumber INTEGER NOT NULL, createdAt TEXT NOT NULL,
  content TEXT NOT NULL, UNIQUE (environmentId, versionNumber));
CREATE TABLE IF NOT EXISTS secrets (
  accountId TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, updatedAt TEXT NOT NULL,
  PRIMARY KEY (accountId, name));

CREATE TABLE IF NOT EXISTS process_samples (
  sandboxId TEXT PRIMARY KEY, sampledAt INTEGER NOT NULL, total INTEGER NOT NULL, processes TEXT NOT NULL);

CREATE TABLE IF NOT EXISTS accounts (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, document TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS teams (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, document TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS credentials (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, accountId TEXT NOT NULL, hash TEXT NOT NULL UNIQUE,
  document TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS key_usage (
  keyId TEXT NOT NULL, day INTEGER NOT NULL, requests INTEGER NOT NULL, lastUsedAt INTEGER NOT NULL,
  PRIMARY KEY (keyId, day));
CREATE TABLE IF NOT EXISTS key_agents (
  conversationId TEXT PRIMARY KEY, keyId TEXT NOT NULL, sandboxId TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS key_agents_of_key ON key_agents (keyId);

CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, document TEXT NOT NULL);

CREATE TABLE IF NOT EXISTS calls (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, endpoint TEXT NOT NULL, sandboxId TEXT, document TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS calls_of_sandbox ON calls (sandboxId);
CREATE TABLE IF NOT EXISTS call_counts (
  endpoint TEXT NOT NULL, outcome TEXT NOT NULL, accepted INTEGER NOT NULL, count INTEGER NOT NULL,
  PRIMARY KEY (endpoint, outcome, accepted));
CREATE TABLE IF NOT EXISTS assumption_counts (
  id TEXT PRIMARY KEY, count INTEGER NOT NULL, firstRequestId TEXT NOT NULL);
`;

/** Every table, to empty it. */
export const tables = [...schema.matchAll(/CREATE TABLE IF NOT EXISTS (\w+)/g)].map(([, name = '']) => name);
