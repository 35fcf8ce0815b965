import { expect, test } from 'vitest';
import { startService } from '../service-under-test.js';

/** Fields of the administration's answers besides the usual ones. */
interface AdminBody {
  readonly account: { readonly id: string; readonly login: string; readonly trial: boolean };
  readonly apiKey: string;
  readonly token: string;
  readonly team: { readonly id: string; readonly suspended: boolean };
  readonly accounts: readonly { readonly login: string; readonly teamId: string | null }[];
}

async function administration() {
  const { call } = await startService();
  return async (method: string, path: string, body?: unknown) => {
    const answer = await call(method, path, { body, admin: true });
    return { status: answer.status, code: answer.body.code, body: JSON.parse(answer.text) as AdminBody, call };
  };
}

test('accounts, organizations, sessions and the switch of key creation can be created and changed over HTTP', async () => {
  const admin = await administration();
  const made = await admin('POST', '/accounts', { login: 'zoe', email: 'zoe@example.com', trial: true });
  expect(made).toMatchObject({ status: 201, body: { account: { login: 'zoe', trial: true } } });
  const { account, apiKey } = made.body;
  const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
  expect(JSON.parse((await made.call('GET', '/me', as(apiKey))).text).user).toMatchObject({ email: 'zoe@example.com' });
  const { token } = (await admin('POST', `/accounts/${account.id}/sessions`)).body;
  const retention = { ...as(token), body: { zeroDataRetention: true } };
  expect((await made.call('PATCH', '/account/data-retention', retention)).status).toBe(200);
  const team = await admin('POST', '/teams', { name: 'Zoo', members: ['zoe', 'local'] });
  expect(team).toMatchObject({ status: 201, body: { team: { suspended: false } } });
  expect((await admin('PATCH', `/teams/${team.body.team.id}`, { suspended: true })).body.team.suspended).toBe(true);
  expect((await made.call('POST', '/sandboxes', as(apiKey))).body.code).toBe('org_suspended');
  expect((await admin('PATCH', `/accounts/${account.id}`, { trial: false })).body.account.trial).toBe(false);
  expect((await admin('GET', '/accounts')).body.accounts.map(({ login }) => login)).toEqual(['local', 'zoe']);
  expect((await admin('PUT', '/scoped-key-creation', { enabled: false })).status).toBe(200);
  expect((await made.call('POST', '/api-keys/scoped', { body: { name: 'late' } })).status).toBe(503);
});

test('invalid accounts are refused: used logins and keys, unknown ids, wrong and unknown fields', async () => {
  const admin = await administration();
  const key = 'a-key-that-two-want-to-have';
  expect((await admin('POST', '/accounts', { login: 'zoe', apiKey: key })).status).toBe(201);
  for (const [method, path, body, status, code] of [
    ['POST', '/accounts', { login: 'zoe' }, 409, 'login_taken'],
    ['POST', '/accounts', { login: 'zed', apiKey: key }, 409, 'api_key_taken'],
    ['POST', '/accounts', { login: 'zed', apiKey: 'short' }, 400, 'invalid_request'],
    ['POST', '/accounts', { login: 'z d' }, 400, 'invalid_request'],
    ['POST', '/accounts', { login: 'zed', admin: true }, 400, 'invalid_request'],
    ['PATCH', '/accounts/acct_none', { trial: true }, 404, 'not_found'],
    ['PATCH', '/accounts/acct_local', { trial: 'yes' }, 400, 'invalid_request'],
    ['POST', '/accounts/acct_none/sessions', undefined, 404, 'not_found'],
    ['POST', '/teams', { name: 'Zoo', members: ['nobody'] }, 404, 'not_found'],
    ['PATCH', '/teams/team_none', { suspended: true }, 404, 'not_found'],
    ['PUT', '/scoped-key-creation', {}, 400, 'invalid_request'],
  ] as const) {
    expect(await admin(method, path, body), `${method} ${path}`).toMatchObject({ status, code });
  }
  const { accounts } = (await admin('GET', '/accounts')).body;
  expect(accounts.map(({ login, teamId }) => [login, teamId])).toEqual([
    ['local', null],
    ['zoe', null],
  ]);
});
