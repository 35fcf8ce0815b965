import { expect } from 'vitest';
import { openEnvironmentDesk } from '../environments/environment-desk.js';
import { rule } from '../rule.js';
import { startLocalTarget } from '../target/index.js';

const local = { needs: ['local'] } as const;

rule(
  ['account.secrets-read', 'account.secrets-update'],
  'secrets are set and unset by name, and only names and times are returned',
  async () => {
    const target = await startLocalTarget();
    const update = (body: unknown) => target.call('POST', '/secrets', { body });
    expect((await target.call('GET', '/secrets')).body.secrets).toEqual([]);
    const set = await update({ set: { B_TOKEN: 'hunter2', A_TOKEN: 'hunter2' } });
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);
    const both = [
      { name: 'A_TOKEN', updatedAt: time },
      { name: 'B_TOKEN', updatedAt: time },
    ];
    expect(set.body.secrets).toEqual(both);
    const read = await target.call('GET', '/secrets');
    expect(read.body.secrets).toEqual(both);
    expect(set.text + read.text).not.toContain('hunter2');
    expect((await update({ unset: ['B_TOKEN', 'NEVER_SET'] })).body.secrets).toEqual(both.slice(0, 1));
    expect((await update({})).body.secrets).toEqual(both.slice(0, 1));
    expect((await update({ set: { C: '1' }, unset: ['C'] })).body.secrets).toHaveLength(2);
  },
  local,
);

rule(
  'account.secrets-update',
  'an invalid variable is refused as a whole, without its value',
  async () => {
    const target = await startLocalTarget();
    const bodies = [
      { set: { GOOD: '1', 'not a name': 'hunter2' } },
      { set: { GOOD: '1', NUL: 'hunter2\0' } },
      { set: { GOOD: '1', LARGE: 'hunter2'.repeat(20_000) } },
      { set: Object.fromEntries([1, 2, 3].map((n) => [`LARGE_${n}`, 'hunter2'.repeat(13_000)])) },
      { set: { GOOD: 7 } },
      { unset: 'GOOD' },
    ];
    for (const body of bodies) {
      const refused = await target.call('POST', '/secrets', { body });
      expect(refused.status).toBe(400);
      expect(refused.text).not.toContain('hunter2');
    }
    expect((await target.call('GET', '/secrets')).body.secrets).toEqual([]);
  },
  local,
);

rule(
  'environments.pass-secrets',
  'secrets reach sandboxes from the next command on if their environment passes them',
  async () => {
    const { target, make, run } = await openEnvironmentDesk();
    make('passes', { passSecrets: true, envContents: 'SECOND=from the environment' });
    make('keeps');
    const set = { FIRST: "from the account, 'quoted' $HOME", SECOND: 'from the account' };
    const [passes, keeps, bare, byDefault] = [
      await target.ready({ environment: 'passes' }),
      await target.ready({ environment: 'keeps' }),
      await target.ready({ noEnv: true }),
      await target.ready(),
    ];
    const look = 'echo "$FIRST|$SECOND"';
    expect(await run(passes, look)).toBe('|from the environment');
    await target.call('POST', '/secrets', { body: { set } });
    expect(await run(passes, look)).toBe(`${set.FIRST}|from the environment`);
    expect(await run(keeps, look)).toBe('|');
    expect(await run(bare, look)).toBe('|');
    expect(await run(byDefault, look)).toBe(`${set.FIRST}|from the account`);
    await target.call('POST', '/secrets', { body: { unset: ['FIRST'] } });
    expect(await run(passes, look)).toBe('|from the environment');
  },
  local,
);

rule(
  'account.secrets-update',
  'values survive a restart and are in no log',
  async () => {
    const target = await startLocalTarget();
    await target.call('POST', '/secrets', { body: { set: { KEPT: 'hunter2' } } });
    await target.ready();
    const { books } = target.service;
    const kept = JSON.stringify([books.calls(), books.sandboxes(), books.prompts(), books.deliveries()]);
    expect(kept).toContain('updateSecrets');
    expect(kept).not.toContain('hunter2');
    await target.service.close();
    const again = await startLocalTarget({ directory: target.directory });
    const sandbox = await again.ready();
    const { body } = await again.call('POST', `/sandboxes/${sandbox}/commands`, { body: { command: 'echo $KEPT' } });
    expect(body.stdout).toBe('hunter2\n');
  },
  local,
);
