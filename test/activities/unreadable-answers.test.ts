/** What an activity does without if the answer stays unreadable, and what it leaves to the workflow. Gate; some 5 s. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { errorBody, sendJson } from '../unit/client/http-harness.js';
import { type ActivityStand, createActivityStand } from './activity-harness.js';

let stand: ActivityStand;
beforeAll(async () => {
  stand = await createActivityStand();
});
afterAll(() => stand.close());

const id = 'bx_22222222';
const file = { path: '/a', encoding: 'utf8', content: 'hi' };
const diffOf = { sandboxId: id, path: '.', owner: `${id}-run`, mayHavePrompted: false };

/** Answers that are not those of the contract, whatever was asked. */
const forms: Readonly<Record<string, [type: string, body: string]>> = {
  bytes: ['application/octet-stream', 'hi'],
  'nothing at all': ['text/plain', ''],
  'other fields': ['application/json', JSON.stringify({ ok: true, file: { contents: 'hi' } })],
  'another type': ['application/json', JSON.stringify({ ok: true, ...file, content: [104, 105] })],
  'an operation': ['application/json', JSON.stringify({ ok: true, operation: { id: 'op_1', status: 'pending' } })],
};
it.each(Object.entries(forms))('%s keeps no prompt and no answer waiting, and is told', async (_, [type, body]) => {
  stand.answer((_request, response) => void response.writeHead(200, { 'content-type': type }).end(body));
  const [fingerprint, collected, base, deletion, needed] = await Promise.all([
    stand.run('fingerprintFile', id, '/a'),
    stand.run('collectFile', { sandboxId: id, path: '/a', key: 'kept/a' }),
    stand.run('recordDiffBase', diffOf),
    // The answer that names an operation has its status.
    body.includes('op_1') ? { value: null } : stand.run('getDeletionOperation', 'del_1'),
    stand.failureOf('getSandbox', id),
  ]);
  expect(fingerprint).toMatchObject({ calls: 3 });
  expect(collected.value).toMatchObject({ ref: null, error: expect.stringMatching(/readFile .* of its response/) });
  expect(collected.value).not.toHaveProperty('missing');
  expect(base.value).toMatchObject({ kind: 'unknown', message: expect.stringContaining('runCommand') });
  expect(deletion.value).toBeNull();
  expect(needed).toMatchObject({ type: 'unexpected_response', nonRetryable: true });
  expect(needed.details?.[0]).toMatchObject({ meaning: 'unreadable', endpoint: 'getSandbox', maybeSent: true });
});

it.each([
  ['a page of a proxy', 404, '<html>'],
  ['a refusal without the error body', 405, ''],
  ['an error inside the service', 500, JSON.stringify(errorBody(500, 'http_500'))],
  ['a web page with the status 200', 200, '<html>'],
])('a fingerprint does not wait for longer than three attempts: %s', async (_, status, body) => {
  stand.answer((_request, response) => void response.writeHead(status).end(body));
  expect(await stand.run('fingerprintFile', id, '/a')).toMatchObject({ calls: 3 });
});

it.each<[string, number, string, calls: number]>([
  ['a page of a proxy', 404, '<html>', 3],
  ['a refused method', 405, JSON.stringify(errorBody(405, 'method_not_allowed')), 1],
  ['a refusal without the error body', 410, '', 3],
  ['no such call', 501, JSON.stringify(errorBody(501, 'not_implemented')), 3],
  ['another shape', 200, JSON.stringify({ ok: true, record: {} }), 3],
])('the record of a stop or a deletion is left to reads of the sandbox: %s', async (_, status, body, calls) => {
  const type = body.startsWith('{') ? 'application/json' : 'text/html';
  stand.answer((_request, response) => void response.writeHead(status, { 'content-type': type }).end(body));
  expect(await stand.run('getStop', id, 'stop_1')).toMatchObject({ value: null, calls });
  expect(await stand.run('getDeletionOperation', 'del_1')).toMatchObject({ value: null, calls });
});

it.each([
  ['pending', { status: 'pending' }],
  ['completed', { status: 'completed' }],
  ['done', null],
  ['COMPLETED', null],
])('a deletion that is %s is what its record says, if the word is known', async (status, value) => {
  stand.answer((_, response) => sendJson(response, 200, { ok: true, operation: { id: 'del_1', status } }));
  const read = await stand.run('getDeletionOperation', 'del_1');
  expect(read.value).toEqual(value && expect.objectContaining(value));
});

it('one unreadable answer is read again', async () => {
  let asked = 0;
  stand.answer((_, response) => {
    asked += 1;
    sendJson(response, 200, asked === 1 ? { ok: true } : { ok: true, ...file });
  });
  const { value } = (await stand.run('collectFile', { sandboxId: id, path: '/a', key: 'kept/b' })) as never;
  expect(value).toMatchObject({ size: 2, error: null });
});

it('a list that says that it has more ends the search by name without a match, and a plan at once', async () => {
  stand.answer((_, response) => sendJson(response, 200, { ok: true, sandboxes: [], hasMore: true }));
  expect(await stand.run('findSandboxByName', 'sf-main-1')).toMatchObject({ value: null, calls: 1 });
  expect(await stand.failureOf('listSandboxes')).toMatchObject({ type: 'list_incomplete', nonRetryable: true });
});
