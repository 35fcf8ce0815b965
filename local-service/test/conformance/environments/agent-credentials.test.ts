/** Logins of agents: variables of the prompts of their provider. Tier: gate, about 3 s. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { rule } from '../rule.js';
import { type People, startPeople } from '../target/index.js';
import { openEnvironmentDesk } from './environment-desk.js';

const local = { needs: ['local'] } as const;
const value = 'sk-0123456789-of-claude';
const print = 'echo "[$ANTHROPIC_API_KEY]"';

/** Agents that print the variable, and a login for one of them. */
function settings() {
  const folder = mkdtempSync(join(tmpdir(), 'sandflow-login-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'key');
  writeFileSync(file, `${value}\n`, { mode: 0o600 });
  const commandAgents = { codex: { command: print }, 'claude-code': { command: `${print} | tr a-z A-Z` } };
  return { commandAgents, agentCredentials: { claude: { ANTHROPIC_API_KEY: file } } };
}

const shown = `[${value.toUpperCase()}]\n`;

/** What the agent of a provider prints. */
async function answer(target: People['local'], sandbox: string, provider: string): Promise<unknown> {
  const { body } = await target.prompt(sandbox, 'hello', { provider });
  return (await target.promptEnd(sandbox, body.promptId)).result;
}

rule(
  'environments.pass-agents-credentials',
  'a login reaches the prompts of its provider if the environment passes it, and nothing else',
  async () => {
    const { target, make, run } = await openEnvironmentDesk(settings());
    make('with', { passAgentsCredentials: true });
    make('without', { passSecrets: true, passSandboxCredentials: true, passRepoHost: true });
    const sandbox = await target.ready({ environment: 'with' });
    expect(await answer(target, sandbox, 'claude')).toBe(shown);
    expect(await answer(target, sandbox, 'codex')).toBe('[]\n');
    expect(await run(sandbox, print)).toBe('[]');
    for (const create of [{ environment: 'without' }, { noEnv: true }]) {
      expect(await answer(target, await target.ready(create), 'claude-code')).toBe('[]\n');
    }
    await target.archive(sandbox);
    expect(spawnSync('grep', ['-rlF', value, target.directory], { encoding: 'utf8' }).stdout).toBe('');
  },
  local,
);

rule(
  ['environments.pass-agents-credentials', 'access.share-wipe'],
  'it is gone after the restart of a shared sandbox, and another account never gets it',
  async () => {
    const { ann, local: target } = await startPeople(settings());
    target.service.accounts.createTeam({ name: 'Own', members: ['local'] });
    const sandbox = await target.ready({});
    expect(await answer(target, sandbox, 'claude-code')).toBe(shown);
    await target.call('POST', `/sandboxes/${sandbox}/share`);
    await target.archive(sandbox);
    await target.call('POST', `/sandboxes/${sandbox}/resume`, { body: {} });
    await target.reach(sandbox, 'ready');
    expect(await answer(target, sandbox, 'claude-code')).toBe('[]\n');
    const other = await ann.ready({});
    const { body } = await ann.prompt(other, 'hello', { provider: 'claude-code' });
    expect((await ann.promptEnd(other, body.promptId)).result).toBe('[]\n');
  },
  local,
);

rule(
  'environments.pass-agents-credentials',
  'a secret of the same name wins, and a file that is missing is named when the service starts',
  async () => {
    const { target } = await openEnvironmentDesk(settings());
    const sandbox = await target.ready({});
    await target.call('POST', '/secrets', { body: { set: { ANTHROPIC_API_KEY: 'own' } } });
    expect(await answer(target, sandbox, 'claude-code')).toBe('[OWN]\n');
    const agentCredentials = { pi: { KEY: '/nowhere/key' } };
    await expect(openEnvironmentDesk({ agentCredentials })).rejects.toThrow(
      '/nowhere/key, the file of agentCredentials.pi.KEY, does not exist.',
    );
    await expect(openEnvironmentDesk({ agentCredentials: { pi: { KEY: 'sk-1' } } })).rejects.toThrow(
      'agentCredentials.pi.KEY: must be the absolute path of a file',
    );
  },
  local,
);
