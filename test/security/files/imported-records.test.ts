/** Archives whose database holds rows that no local service writes: each is refused, and the service goes on. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import Libsql from 'libsql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { emptyDirectory, startService } from '../../local-service/service-under-test.js';

const run = promisify(execFile);
const id = 'bx_efgh2345';
let scratch: string;
let exported: Buffer | undefined;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'sandflow-records-'));
});
afterAll(async () => await rm(scratch, { recursive: true, force: true }));

async function exportedState(): Promise<Buffer> {
  if (exported !== undefined) return exported;
  const from = await startService();
  await from.service.seed({ version: 1, sandboxes: [{ id, name: 'of the export', files: { a: 'text' } }] });
  const { body } = await from.prompt(id, 'a prompt');
  await from.promptEnd(id, body.promptId);
  await from.archive(await from.ready({ name: 'stopped' }));
  exported = await buffer(await from.service.export());
  return exported;
}

/** The export of a service with two sandboxes, whose database was changed by `statements`. */
async function archiveWith(statements: string): Promise<Readable> {
  const folder = await mkdtemp(join(scratch, 'state-'));
  const archive = `${folder}.tar.gz`;
  await writeFile(archive, await exportedState());
  await run('tar', ['-xzf', archive, '-C', folder]);
  const sql = new Libsql(join(folder, 'service.db'));
  sql.exec(statements);
  sql.close();
  await run('tar', ['-czf', archive, '-C', folder, '.']);
  return Readable.from([await readFile(archive)]);
}

/** Changes a field of the document of each sandbox. */
const sandboxWith = (path: string, json: string): string =>
  `UPDATE sandboxes SET document = json_set(document, '$.${path}', json('${json}'))`;
const work = (kind: string, subject: string, dueAt: string): string =>
  `INSERT INTO work (key, kind, subject, token, dueAt) VALUES ('k', '${kind}', '${subject}', '', ${dueAt})`;

describe('an archive is refused whose database', () => {
  it.each<[string, string, RegExp]>([
    [
      'names a sandbox like a path',
      `UPDATE sandboxes SET id = '../x', document = json_set(document, '$.id', '../x') WHERE seq = 1`,
      /sandboxes .*"id"/,
    ],
    [
      'names a deleted sandbox like a path',
      `UPDATE sandboxes SET id = '../x', gone = 'deleted', document = json_set(document, '$.id', '../x', '$.gone', 'deleted') WHERE seq = 1`,
      /sandboxes .*"id"/,
    ],
    [
      'keeps a sandbox under the id of another',
      `UPDATE sandboxes SET id = 'bx_aaaa2345' WHERE seq = 1`,
      /sandboxes .*"id"/,
    ],
    ['names a snapshot like a path', `UPDATE snapshots SET id = '../../x', expired = 1`, /snapshots .*"id"/],
    ['restores from a path', sandboxWith('restoreFrom', '"../../x"'), /sandboxes .*"restoreFrom"/],
    ['has a state that does not exist', sandboxWith('state', '"asleep"'), /sandboxes .*"state"/],
    ['has a size that does not exist', sandboxWith('type', '"endless"'), /sandboxes .*"type"/],
    ['has a time that is none', sandboxWith('archiveAfter', '"soon"'), /sandboxes .*"archiveAfter"/],
    ['holds text that is not JSON', `UPDATE history SET data = '{'`, /history .*"data"/],
    [
      'holds a document without a bottom',
      `UPDATE history SET data = '{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}'`,
      /history .*"data"/,
    ],
    ['holds an account without a login', `UPDATE accounts SET document = '{}'`, /accounts .*"id"/],
    [
      'holds a clock without a time',
      `INSERT OR REPLACE INTO settings VALUES ('clock', '{"aheadMs":1e99,"heldAt":null}')`,
      /settings .*"aheadMs"/,
    ],
    ['holds a clock that is none', `INSERT OR REPLACE INTO settings VALUES ('clock', 'null')`, /settings .*"document/],
    ['holds work that does not exist', work('dig', id, '0'), /work .*"kind"/],
    ['holds work on a path', work('drop_snapshot', '../../x', '0'), /work .*"subject"/],
    ['holds a time beyond all time', `UPDATE history SET createdAt = 9000000000000000`, /history .*"createdAt"/],
    [
      'leaves no number for the next row',
      `UPDATE history SET seq = 9223372036854775807 WHERE seq = (SELECT max(seq) FROM history)`,
      /history .*"seq"/,
    ],
    ['holds bytes in place of text', `UPDATE prompts SET text = x'00ff'`, /prompts .*"text"/],
    ['holds a prompt status that does not exist', `UPDATE prompts SET status = 'thinking'`, /prompts .*"status"/],
    ['holds text in place of a number', `UPDATE history SET createdAt = 'now'`, /history .*"createdAt"/],
    [
      'has a table of its own making',
      'DROP TABLE secrets; CREATE TABLE secrets (accountId, name, value, updatedAt); INSERT INTO secrets VALUES (1, 1, NULL, 1)',
      /secrets/,
    ],
  ])('%s', async (_what, statements, message) => {
    const under = await startService();
    const kept = await under.ready({ name: 'kept' });
    const refused = under.service.import(await archiveWith(statements));
    await expect(refused).rejects.toMatchObject({ code: 'bad_archive', message: expect.stringMatching(message) });
    expect((await under.call('GET', `/sandboxes/${kept}`)).body.sandbox.state).toBe('ready');
    await under.service.reset();
  });
});

describe('an import', () => {
  it('takes the rows that a local service writes, and can be reset', async () => {
    const under = await startService();
    await under.service.import(await archiveWith('SELECT 1'));
    expect((await under.call('GET', `/sandboxes/${id}/files?path=a`)).body.content).toBe('text');
    await under.service.reset();
    expect((await under.call('GET', '/sandboxes')).body.sandboxes).toEqual([]);
  });

  it('of an earlier version, with ids like paths, can be reset', async () => {
    const directory = await emptyDirectory();
    const before = await startService({ directory });
    await before.ready({ name: 'kept' });
    await before.service.close();
    const sql = new Libsql(join(directory, 'service.db'));
    sql.exec(
      `${sandboxWith('id', '"../x"')}; UPDATE sandboxes SET id = '../x'; ${sandboxWith('restoreFrom', '"../y"')}`,
    );
    sql.close();
    const under = await startService({ directory });
    await under.service.reset();
    expect((await under.call('GET', '/sandboxes')).body.sandboxes).toEqual([]);
    await under.ready({ name: 'new' });
  });
});
