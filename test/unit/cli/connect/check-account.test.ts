import { afterEach, expect, it } from 'vitest';
import { checkConcurrency, checkModels, type WantedModels } from '../../../../src/cli/connect/check-account.js';
import { failureOf } from '../../../../src/cli/errors.js';
import { createClosing, errorBody, sendJson, startStand } from '../../client/http-harness.js';

const closing = createClosing();
afterEach(closing.closeAll);

const providers = [
  { provider: 'codex', configured: true, models: [{ model: 'large', reasoningEfforts: ['low'] }, { model: 'plain' }] },
  { provider: 'claude-code', configured: false, models: [{ model: 'sonnet', reasoningEfforts: [] }] },
];

async function open(status: number, body: object) {
  const stand = closing.keep(await startStand((_, response) => sendJson(response, status, body)));
  const notices: string[] = [];
  const service = closing.client(stand);
  const options = {
    service,
    signal: new AbortController().signal,
    notices: { notice: (text: string) => notices.push(text) },
  };
  return { options, notices, reads: () => stand.seen.length };
}

async function check(wanted: Partial<WantedModels>, status = 200, body: object = { ok: true, providers }) {
  const { options, notices, reads } = await open(status, body);
  const all = { providers: [], models: [], efforts: [], ...wanted };
  const error = await checkModels(all, options).then(() => null, failureOf);
  return { message: error?.error.message ?? null, exitCode: error?.exitCode, notices, reads: reads() };
}

it('a provider without credentials, and an effort that its model does not take, are refused before the start', async () => {
  expect(await check({ providers: ['claude'] })).toMatchObject({
    exitCode: 2,
    message: expect.stringMatching(
      /^--provider: claude has no credentials at the service\. Give it a login there \(docs\/agents\.md, "Credentials", .*or choose another provider: codex\. Nothing was started\.$/,
    ),
  });
  expect(await check({ models: ['large'], efforts: ['low', 'max'] })).toMatchObject({
    exitCode: 2,
    message: expect.stringMatching(/^--effort: the model large does not accept max\. It accepts: low\./),
  });
  const fine = { message: null, notices: [], reads: 1 };
  expect(await check({ providers: ['codex'], models: ['large', 'plain'], efforts: ['low'] })).toMatchObject(fine);
});

it('what the service does not list or say stops nothing, and nothing is asked if nothing is named', async () => {
  expect(await check({ providers: ['codex'], models: ['newest'], efforts: ['max'] })).toMatchObject({
    message: null,
    notices: [expect.stringMatching(/does not list newest.*It lists large, plain/)],
  });
  const silent = { message: null, notices: [] };
  expect(await check({ models: ['large'] }, 403, errorBody(403, 'forbidden'))).toMatchObject(silent);
  expect(await check({ models: ['large'] }, 200, { ok: true, providers: [] })).toMatchObject(silent);
  expect(await check({ efforts: ['low'] })).toMatchObject({ ...silent, reads: 0 });
});

it('more concurrent forks than the account may have are told', async () => {
  const { options, notices } = await open(200, { ok: true, limits: { sandboxes: { used: 1, max: 10 } } });
  await checkConcurrency(10, options);
  expect(notices).toEqual([]);
  await checkConcurrency(11, options);
  expect(notices).toEqual([expect.stringContaining('10 sandboxes at once')]);
  const unlimited = await open(200, { ok: true, limits: { sandboxes: { used: 1, max: null } } });
  await checkConcurrency(500, unlimited.options);
  expect(unlimited.notices).toEqual([]);
});
