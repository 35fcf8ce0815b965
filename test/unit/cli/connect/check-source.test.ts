import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { checkSource } from '../../../../src/cli/connect/check-source.js';
import { type NamedSource, namedSourceOf } from '../../../../src/cli/connect/named-source.js';
import { failureOf } from '../../../../src/cli/errors.js';
import {
  type Answer,
  aSandbox,
  createClosing,
  errorBody,
  rejectionOf,
  sendJson,
  startStand,
} from '../../client/http-harness.js';
import { cli } from '../in-process.js';
import { temporaryDirectory } from '../temporary-directory.js';

const closing = createClosing();
afterEach(closing.closeAll);

const { id: sandboxId } = aSandbox;
const fork: NamedSource = { kind: 'sandbox', sandboxId, use: 'fork' };
const work: NamedSource = { kind: 'sandbox', sandboxId, use: 'work' };
const base: NamedSource = { kind: 'snapshot', name: 'base' };

const sandbox = (fields: object) => ({ ok: true, type: 'sandbox.info', sandbox: { ...aSandbox, ...fields } });
const listed = (...rows: object[]) => ({ ok: true, type: 'snapshot.list', snapshots: rows });
const row = (name: string | null | undefined) => ({ id: 'snap_1', sandboxId, name, status: 'completed' });

/** Checks `source` at a service that gives these answers, in this order; the last one again and again. */
async function check(source: NamedSource, answers: readonly Answer[], pausesMs = [1, 1]) {
  const stand = closing.keep(
    await startStand((request, response) =>
      answers[Math.min(stand.seen.length, answers.length) - 1]?.(request, response),
    ),
  );
  const notices: string[] = [];
  const error = await checkSource(source, {
    service: closing.client(stand),
    signal: new AbortController().signal,
    notices: { notice: (text) => notices.push(text) },
    pausesMs,
  }).then(
    () => null,
    (reason: unknown) => failureOf(reason),
  );
  return { error, notices, reads: stand.seen.map(({ method, url }) => `${method} ${url}`) };
}

const json =
  (status: number, body: unknown): Answer =>
  (_, response) =>
    sendJson(response, status, body);
const missing = json(404, errorBody(404, 'sandbox_not_found', 'No such sandbox.'));

describe('the check of a named sandbox', () => {
  it('is one read of that sandbox', async () => {
    expect(await check(fork, [json(200, sandbox({}))])).toEqual({
      error: null,
      notices: [],
      reads: [`GET /v1/sandboxes/${sandboxId}`],
    });
  });

  it.each(['sandbox_not_found', 'not_found'])(
    'refuses after repeated %s, and says how to start anyway',
    async (code) => {
      const { error, reads } = await check(work, [json(404, errorBody(404, code))]);
      expect(error).toMatchObject({
        exitCode: 2,
        error: { code: 'sandbox_not_found', status: 404, requestId: 'req_1' },
      });
      expect(error?.error.message).toMatch(/^There is no sandbox bx_23456789,.* two minutes .* add --no-check\.$/);
      expect(reads).toHaveLength(3);
    },
  );

  it('finds a sandbox that the first reads do not show yet', async () => {
    const { error, reads } = await check(fork, [missing, missing, json(200, sandbox({}))]);
    expect({ error, reads: reads.length }).toEqual({ error: null, reads: 3 });
  });

  it.each<[string, Answer]>([
    ['a key that may not read', json(403, errorBody(403, 'api_key_action_forbidden'))],
    ['a key of other sandboxes', json(403, errorBody(403, 'api_key_sandbox_forbidden'))],
    ['an error inside the service', json(500, errorBody(500, 'http_500'))],
    ['throttling', json(429, errorBody(429, 'rate_limited'))],
    ['a 404 with another code', json(404, errorBody(404, 'route_gone'))],
    [
      'the 404 page of a proxy',
      (_, response) => response.writeHead(404, { 'content-type': 'text/html' }).end('<html>'),
    ],
    ['the 404 of another JSON server', json(404, { error: 'not_found' })],
    ['a lost connection', (_, response) => response.destroy()],
    ['an answer without a sandbox', json(200, { ok: true })],
  ])('does not hold back the start after %s', async (_, answer) => {
    const { error, notices, reads } = await check(work, [answer]);
    expect({ error, reads: reads.length }).toEqual({ error: null, reads: 1 });
    expect(notices).toEqual([expect.stringContaining(`It is not known whether the sandbox ${sandboxId} exists: `)]);
  });

  it('does not hold back the start if only the first read said that it is missing', async () => {
    const { error, reads } = await check(work, [missing, json(503, errorBody(503, 'http_500'))]);
    expect({ error, reads: reads.length }).toEqual({ error: null, reads: 2 });
  });

  const expired = { state: 'archived', dataExpiredAt: '2026-01-15T00:00:00Z' };
  it.each<[NamedSource, object, string | undefined]>([
    [fork, expired, 'snapshot_data_expired'],
    [work, expired, 'snapshot_data_expired'],
    [work, { ...expired, state: 'ready' }, undefined],
    [fork, { state: 'cancelled' }, 'sandbox_not_found'],
    [work, { state: 'cancelled' }, 'sandbox_not_found'],
    [work, { state: 'archived', dataExpiredAt: null }, undefined],
    [work, { state: 'error' }, undefined],
  ])('for %j in the state %j ends with %s after one read', async (source, fields, code) => {
    const { error, reads } = await check(source, [json(200, sandbox(fields))]);
    expect({ code: error?.error.code, reads: reads.length }).toEqual({ code, reads: 1 });
    if (error) expect(error.exitCode).toBe(2);
  });

  it('ends at Ctrl-C, also between two reads', async () => {
    const stand = closing.keep(await startStand(missing));
    const interrupted = new AbortController();
    const checked = rejectionOf(
      checkSource(work, {
        service: closing.client(stand),
        signal: interrupted.signal,
        notices: { notice: () => expect.unreachable() },
        pausesMs: [60_000],
      }),
    );
    await expect.poll(() => stand.seen.length).toBe(1);
    interrupted.abort(new Error('Ctrl-C'));
    expect(await checked).toMatchObject({ message: 'Ctrl-C' });
  });
});

describe('the check of a named snapshot', () => {
  it('is one read of the list', async () => {
    const { error, reads } = await check(base, [json(200, listed(row('other'), row('base')))]);
    expect({ error, reads }).toEqual({ error: null, reads: ['GET /v1/snapshots'] });
  });

  it.each<[object[], string]>([
    [[], 'The service lists no snapshots.'],
    [[row(null)], 'The service lists 1 snapshot, none has a name.'],
    [[row('bases'), row(null)], 'The service lists 2 snapshots, named "bases".'],
    [['a', 'b', 'c', 'd', 'e', 'f'].map(row), 'named "a", "b", "c", "d", "e", and 1 more.'],
  ])('refuses a name that repeated lists do not have: %j', async (rows, text) => {
    const { error, reads } = await check(base, [json(200, listed(...rows))]);
    expect(error).toMatchObject({ exitCode: 2, error: { code: 'snapshot_not_found' } });
    expect(error?.error.message).toContain(text);
    expect(error?.error.message).toContain('add --no-check');
    expect(reads).toHaveLength(3);
  });

  it.each<[string, Answer]>([
    ['a key that may not list', json(403, errorBody(403, 'api_key_action_forbidden'))],
    ['a service without this list', json(404, errorBody(404, 'not_found'))],
    ['a list with an unreadable row', json(200, listed(row('other'), { id: 7 }))],
    ['a list that is incomplete', json(200, { ...listed(row('other')), hasMore: true })],
    ['a list without names', json(200, listed(row(undefined)))],
  ])('does not hold back the start after %s', async (_, answer) => {
    const { error, notices, reads } = await check(base, [answer]);
    expect({ error, reads: reads.length }).toEqual({ error: null, reads: 1 });
    expect(notices).toEqual([expect.stringContaining('It is not known whether the snapshot "base" exists: ')]);
  });
});

it('only a source that must exist before the start is checked', () => {
  const none = [
    namedSourceOf({ kind: 'create', body: {} }),
    namedSourceOf({ kind: 'prepare', body: {}, put: [], commands: [], prompts: [], deadlineMs: 1, end: 'stop' }),
  ];
  expect(none).toEqual([null, null]);
  expect([
    namedSourceOf({ kind: 'create', body: { from: 'base' } }),
    namedSourceOf({ kind: 'snapshot', from: 'base', body: {} }),
    namedSourceOf({ kind: 'existing', sandboxId }),
    namedSourceOf({ kind: 'fork', sandboxId }),
    namedSourceOf({ kind: 'sandbox', sandboxId, allowStale: false }),
  ]).toEqual([base, base, work, fork, fork]);
});

describe('fanout --dry-run', () => {
  const unknown: Answer = ({ url }, response) =>
    url.endsWith('/snapshots') ? sendJson(response, 200, listed()) : missing({} as never, response);
  async function dryRun(answer: Answer, ...args: string[]) {
    const stand = closing.keep(await startStand(answer));
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, 'prompts.txt'), 'one\ntwo\n');
    const env = { SANDBOX_API_URL: stand.url, SANDBOX_API_KEY: 'key_secret' };
    return { stand, ...(await cli(['fanout', 'prompts.txt', '--dry-run', ...args], { cwd, env })) };
  }

  it.each([
    ['--source', sandboxId, 'There is no sandbox bx_23456789'],
    ['--snapshot', 'nosuch', 'There is no snapshot named "nosuch"'],
  ])('refuses %s %s that the service does not have', async (option, value, message) => {
    const { exitCode, stdout, stderr } = await dryRun(unknown, option, value);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(message);
  });

  it('prints the plan if the source exists, or cannot be read', async () => {
    const found = await dryRun(json(200, sandbox({})), '--source', sandboxId);
    expect(found).toMatchObject({ exitCode: 0, stderr: '', stdout: expect.stringContaining('2 items') });
    const secret = await dryRun(json(403, errorBody(403, 'forbidden')), '--snapshot', 'base');
    expect(secret).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('2 items') });
    expect(secret.stderr).toContain('It is not known whether the snapshot "base" exists');
  });

  it.each([[[]], [['--source', sandboxId, '--no-check']]])('asks nothing with %j', async (args) => {
    const { exitCode, stand } = await dryRun(unknown, ...args);
    expect({ exitCode, seen: stand.seen }).toEqual({ exitCode: 0, seen: [] });
  });
});
