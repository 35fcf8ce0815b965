import { expect, test } from 'vitest';
import { startService } from './service-under-test.js';

test('accounts are refused: used logins and keys, and unknown ids and members', async () => {
  const { accounts } = (await startService()).service;
  const apiKey = 'a-key-that-two-want-to-have';
  accounts.create({ login: 'zoe', apiKey });
  for (const [act, refusal] of [
    [() => accounts.create({ login: 'zoe' }), { status: 409, code: 'login_taken' }],
    [() => accounts.create({ login: 'zed', apiKey }), { status: 409, code: 'api_key_taken' }],
    [() => accounts.update('acct_none', { trial: true }), { status: 404 }],
    [() => accounts.createSession('acct_none'), { status: 404 }],
    [() => accounts.createTeam({ name: 'Zoo', members: ['zoe', 'nobody'] }), { status: 404 }],
    [() => accounts.updateTeam('team_none', { suspended: true }), { status: 404 }],
  ] as const) {
    expect(act).toThrow(expect.objectContaining(refusal));
  }
  expect(accounts.list().map(({ login, teamId }) => [login, teamId])).toEqual([
    ['local', null],
    ['zoe', null],
  ]);
});
