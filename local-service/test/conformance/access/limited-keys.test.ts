/**
 * A limited key changes nothing outside what it is limited to: every writing endpoint, with each kind of limit. A key may
 * reach the target of a call, and the call may change more than its target.
 */
import { expect } from 'vitest';
import { type EndpointName, endpoints } from '../../../../src/contract/endpoints/endpoints.js';
import { laptop, website } from '../environments/environment-desk.js';
import { rule } from '../rule.js';
import { endpointNames, onesOfEverything, type Person, scopedKey, startPeople } from '../target/index.js';

const local = { needs: ['local'] } as const;

type Body = Readonly<Record<string, unknown>>;
interface Ask {
  readonly path: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a limited key is limited to, and beside it one of everything that it does not reach. */
interface Ground {
  readonly ann: Person;
  readonly key: string;
  /** The sandbox, its snapshot and the environment that a key of this kind reaches at most. */
  readonly own: { readonly sandboxId: string; readonly snapshotId: string; readonly environmentId: string };
  readonly other: Awaited<ReturnType<typeof onesOfEverything>>;
}

/** Every kind of limit. The sandbox's own credential is read where it is: in the sandbox. */
const limits: Readonly<Record<string, (ann: Person, own: Ground['own']) => Promise<string>>> = {
  sandboxes: async (ann, { sandboxId }) => (await scopedKey(ann, { preset: 'admin', sandboxes: [sandboxId] })).secret,
  environments: async (ann, { environmentId }) =>
    (await scopedKey(ann, { preset: 'admin', environments: [environmentId] })).secret,
  'sandboxes and environments': async (ann, { sandboxId, environmentId }) =>
    (await scopedKey(ann, { preset: 'admin', sandboxes: [sandboxId], environments: [environmentId] })).secret,
  'the credential of a sandbox': async (ann, { sandboxId }) => {
    const body = { command: 'printf %s "$SANDBOX_API_KEY"' };
    return (await ann.call('POST', `/sandboxes/${sandboxId}/commands`, { body })).body.stdout;
  },
};

const writing = endpointNames.filter((name) => endpoints[name].method !== 'GET');
const webhook = { name: 'mine', url: 'https://hooks.example.com/mine', events: ['sandbox.ready'] };
const script = 'env > written-out';

/** For each writing endpoint, the calls that could change something elsewhere. */
function asksOf({ own, other }: Ground): Readonly<Partial<Record<EndpointName, readonly Ask[]>>> {
  const [mine, theirs] = [{ sandboxId: own.sandboxId }, { sandboxId: other.sandboxId }];
  const [inside, outside] = [{ environmentId: own.environmentId }, { environmentId: other.environmentId }];
  const ofWebhook = { webhookId: other.webhookId };
  const ofKey = { apiKeyId: other.apiKeyId };
  const bodies = (path: Ask['path'], ...all: readonly unknown[]) => all.map((body) => ({ path, body }));
  const keyed = { 'idempotency-key': 'of-the-owner' };
  return {
    createSandbox: [
      ...bodies({}, {}, { noEnv: true }, { environment: 'elsewhere' }, { environment: 'inside', from: 'golden' }),
      ...bodies({}, { environment: 'inside', setupScript: script }),
      { path: {}, body: { environment: 'elsewhere' }, headers: keyed },
    ],
    updateSandbox: [
      ...bodies(mine, { snapshotName: 'golden' }, { snapshotName: 'own' }, { name: 'other' }, { ttlSeconds: 3600 }),
      ...bodies(theirs, { snapshotName: 'own' }, { name: 'own' }),
    ],
    resumeSandbox: [...bodies(mine, { type: 'small' }), ...bodies(theirs, {})],
    forkSandbox: [...bodies(mine, {}), ...bodies(theirs, {}), { path: mine, body: {}, headers: keyed }],
    shareSandbox: bodies(mine, undefined).concat(bodies(theirs, undefined)),
    unshareSandbox: bodies(mine, undefined).concat(bodies(theirs, undefined)),
    sendPrompt: [...bodies(mine, { prompt: 'Say hello.' }), ...bodies(theirs, { prompt: 'Say hello.' })],
    interruptSandbox: bodies(mine, undefined).concat(bodies(theirs, undefined)),
    writeFile: bodies(mine, { path: 'x', content: 'x' }).concat(bodies(theirs, { path: 'x', content: 'x' })),
    runCommand: bodies(mine, { command: 'true' }).concat(bodies(theirs, { command: 'true' })),
    openDesktop: bodies(mine, { publicAccess: true }).concat(bodies(theirs, { publicAccess: true })),
    setSshKey: [mine, theirs].map((path) => ({ path, body: { publicKey } })),
    updateEnvironment: [
      ...bodies(inside, { isDefault: true }, { envContents: 'A=1' }, { name: 'renamed' }, { name: 'inside' }),
      ...bodies(inside, { passRepoHost: true }, { passSecrets: true }, { passAgentsCredentials: true }),
      ...bodies(inside, { passSandboxCredentials: true }, { secretFiles: [{ path: 'x', contents: 'x' }] }),
      ...bodies(inside, { repositories: [{ repositoryId: 'db-8', setupScript: script }] }),
      ...bodies(outside, { isDefault: true }, { envContents: 'A=1' }, { name: 'theirs' }),
    ],
    upgradeEnvironment: [
      ...bodies(inside, {}, { agentIds: [other.sandboxId] }),
      ...bodies(outside, {}, { agentIds: [other.sandboxId] }),
    ],
    createApiKey: bodies({}, { name: 'x' }, { name: 'x', actions: ['sandbox.read'], sandboxes: [own.sandboxId] }),
    rotateApiKey: bodies(ofKey, undefined),
    revokeApiKey: bodies(ofKey, undefined),
    updateDataRetention: bodies({}, { zeroDataRetention: true }),
    selectRepo: bodies({}, { fullName: 'acme/laptop' }),
    updateSecrets: bodies({}, { set: { MINE: 'x' } }, { unset: ['SECRET'] }),
    createWebhook: bodies({}, webhook),
    updateWebhook: bodies(ofWebhook, { url: 'https://hooks.example.com/theirs' }),
    rotateWebhookSecret: bodies(ofWebhook, undefined),
    deleteWebhook: bodies(ofWebhook, undefined),
    stopSandbox: bodies(theirs, undefined).concat(bodies(mine, undefined)),
    deleteSnapshot: [other.snapshotId, own.snapshotId].map((snapshotId) => ({
      path: { snapshotId },
      headers: { 'x-svc-confirm-delete': snapshotId },
    })),
    deleteSandbox: [theirs, mine].map((path) => ({ path, headers: { 'x-svc-confirm-delete': path.sandboxId } })),
  };
}

const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f limited';

async function prepare(kind: string): Promise<Ground> {
  const { ann, local: target } = await startPeople({ repos: [laptop, website] });
  const make = (name: string, more: Body = {}) =>
    String(target.service.setup.createEnvironment({ name, ...more }, ann.accountId).id);
  make('elsewhere', { passSecrets: true });
  const environmentId = make('inside', { passSandboxCredentials: kind.startsWith('the credential') });
  await ann.call('POST', '/secrets', { body: { set: { SECRET: 'of the account' } } });
  const headers = { 'idempotency-key': 'of-the-owner' };
  const keyed = await ann.call('POST', '/sandboxes', { body: { environment: 'elsewhere' }, headers });
  await ann.reach(keyed.body.sandbox.id, 'ready');
  const other = await onesOfEverything(ann, ann.session);
  await ann.call('PATCH', `/sandboxes/${other.sandboxId}`, { body: { snapshotName: 'golden' } });
  const sandboxId = await ann.ready({ environment: 'inside' });
  await ann.archive(sandboxId);
  const { snapshot } = (await ann.call('GET', `/sandboxes/${sandboxId}/snapshots/latest`)).body;
  await ann.call('POST', `/sandboxes/${sandboxId}/resume`);
  await ann.reach(sandboxId, 'ready');
  const own = { sandboxId, snapshotId: snapshot.id, environmentId };
  return { ann, key: (await limits[kind]?.(ann, own)) ?? '', own, other };
}

/** Everything of the account but what the key reaches, and what the account passes to the environment of the key. */
async function elsewhere({ ann, own }: Ground, known: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  const read = async (path: string) => (await ann.call('GET', path, { key: ann.session })).body;
  const { environments } = await read('/environments');
  const { sandboxes } = await read('/sandboxes');
  const { snapshots } = await read('/snapshots');
  const inside = environments.find(({ id }) => id === own.environmentId);
  const { passSecrets, passRepoHost, passAgentsCredentials, passSandboxCredentials, selectedRepositories } = {
    ...inside,
  };
  const keys = (await read('/api-keys')).apiKeys;
  return {
    sandboxes: sandboxes.filter(({ id }) => known.includes(id) && id !== own.sandboxId),
    // Forks and creates of the key itself are in its environment.
    strangers: sandboxes.filter(({ id, environment }) => !known.includes(id) && environment !== inside?.name),
    snapshots: snapshots.filter(({ sandboxId: id }) => id && known.includes(id) && id !== own.sandboxId),
    environments: environments.filter(({ id }) => id !== own.environmentId),
    passed: { passSecrets, passRepoHost, passAgentsCredentials, passSandboxCredentials, selectedRepositories },
    keys: keys.map(({ id, name, prefix }) => [id, name, prefix]),
    webhooks: (await read('/webhooks')).webhooks,
    secrets: (await read('/secrets')).secrets,
    policy: (await read('/account/data-retention')).policy,
  };
}

/** What a key of each kind may do, so that no row passes because every call was refused. */
const accepted: Readonly<Record<string, readonly EndpointName[]>> = {
  sandboxes: [
    ...['deleteSandbox', 'deleteSnapshot', 'forkSandbox', 'interruptSandbox', 'resumeSandbox', 'runCommand'],
    ...['sendPrompt', 'setSshKey', 'shareSandbox', 'stopSandbox', 'unshareSandbox', 'updateSandbox', 'writeFile'],
  ] as EndpointName[],
  environments: [
    ...['createSandbox', 'deleteSandbox', 'deleteSnapshot', 'forkSandbox', 'interruptSandbox', 'resumeSandbox'],
    ...['runCommand', 'sendPrompt', 'setSshKey', 'shareSandbox', 'stopSandbox', 'unshareSandbox', 'updateEnvironment'],
    ...['updateSandbox', 'upgradeEnvironment', 'writeFile'],
  ] as EndpointName[],
  'the credential of a sandbox': [
    ...['deleteSnapshot', 'interruptSandbox', 'runCommand', 'sendPrompt', 'setSshKey', 'updateSandbox', 'writeFile'],
  ] as EndpointName[],
};

for (const kind of Object.keys(limits)) {
  rule(
    ['scope.both-hold', 'scope.sandbox-forbidden', 'scope.default-deny'],
    `no writing endpoint changes anything outside the limits of its key: ${kind}`,
    async () => {
      const ground = await prepare(kind);
      const { ann, key } = ground;
      const asks = asksOf(ground);
      expect(Object.keys(asks).sort()).toEqual([...writing].sort());
      const known = (await ann.call('GET', '/sandboxes')).body.sandboxes.map(({ id }) => id);
      let before = await elsewhere(ground, known);
      const fallen: string[] = [];
      const letIn = new Set<string>();
      for (const [name, calls = []] of Object.entries(asks)) {
        for (const { path, body, headers } of calls) {
          const { method, path: pattern } = endpoints[name as EndpointName];
          const filled = pattern.replace(/\{(\w+)\}/g, (_, parameter: string) => path[parameter] ?? '');
          const { status } = await ann.call(method, filled, { key, body, headers });
          if (status < 300) letIn.add(name);
          const after = await elsewhere(ground, known);
          for (const [part, now] of Object.entries(after)) {
            if (JSON.stringify(now) === JSON.stringify(before[part])) continue;
            fallen.push(`${name} ${JSON.stringify(body ?? {})} changed ${part}`);
          }
          before = after;
        }
      }
      expect(fallen).toEqual([]);
      // Depends on what is installed on this machine.
      letIn.delete('openDesktop');
      const expected = accepted[kind] ?? accepted.environments ?? [];
      expect([...letIn].sort()).toEqual([...expected].sort());
    },
    local,
  );
}

/** Ids of environments that exist, and a way to change them with a key of this scope. */
async function desk(scope: Body) {
  const { ann, local: target } = await startPeople({ repos: [laptop, website] });
  const create = (name: string, more: Body = {}) =>
    String(target.service.setup.createEnvironment({ name, ...more }, ann.accountId).id);
  const passing = { passSecrets: true, passRepoHost: true, repositories: [{ repositoryId: '7' }] };
  const [open, closed] = [create('open', passing), create('closed')];
  const { secret: key } = await scopedKey(ann, scope);
  const put = (id: string, body: Body) => ann.call('PUT', `/environments/${id}`, { key, body });
  return { ann, open, closed, put };
}

const outside = { status: 403, body: { code: 'api_key_sandbox_forbidden' } };

rule(
  ['scope.environment-set', 'scope.environments', 'environments.put-default'],
  'a limited key lets less pass to its environment, keeps what passes, and writes what runs there',
  async () => {
    const { open, closed, put } = await desk({ preset: 'admin', environments: ['open', 'closed'] });
    const selected = [{ repositoryId: '7', baseBranch: 'other', setupScript: 'true', setupBlocking: true }];
    for (const body of [
      ...[{ passSecrets: true, envContents: 'A=1' }, { secretFiles: [{ path: 'x', contents: 'x' }] }],
      ...[{ repositories: selected }, { passSecrets: false }, { repositories: [] }, { safeForThirdParties: true }],
    ]) {
      expect((await put(open, body)).status, JSON.stringify(body)).toBe(200);
    }
    for (const body of [{ passSecrets: true }, { repositories: selected }]) {
      expect(await put(open, body), JSON.stringify(body)).toMatchObject(outside);
    }
    // A refusal does not tell which repositories there are.
    const unknown = await put(closed, { repositories: [{ repositoryId: 'unknown' }] });
    expect(unknown).toMatchObject(outside);
    expect((await put(closed, { repositories: selected })).body.message).toBe(unknown.body.message);
  },
  local,
);

rule(
  ['scope.environment-set', 'environments.put-default'],
  'a limited key moves the default between environments that it reaches, and takes it from no other',
  async () => {
    const { ann, open, closed, put } = await desk({ preset: 'admin', environments: ['open', 'closed'] });
    const byDefault = async () =>
      (await ann.call('GET', '/environments')).body.environments.find(({ isDefault }) => isDefault)?.name;
    const mixed = { isDefault: true, name: 'renamed', envContents: 'A=1' };
    expect(await put(closed, mixed)).toMatchObject(outside);
    expect(await byDefault()).toBe('Default');
    const { environments } = (await ann.call('GET', '/environments')).body;
    expect(environments.map(({ name, envContents }) => [name, envContents])).toEqual([
      ...[
        ['Default', ''],
        ['open', ''],
        ['closed', ''],
      ],
    ]);
    await ann.call('PUT', `/environments/${open}`, { body: { isDefault: true } });
    for (const [id, name] of [
      [closed, 'closed'],
      [open, 'open'],
      [open, 'open'],
    ] as const) {
      expect((await put(id, { isDefault: true })).status).toBe(200);
      expect(await byDefault()).toBe(name);
    }
  },
  local,
);

rule(
  ['scope.environments', 'environments.put-default', 'environments.put-repositories'],
  'a key that is limited to actions only changes everything of an environment',
  async () => {
    const { closed, put } = await desk({ actions: ['environment.write'] });
    const flags = { passSecrets: true, passRepoHost: true, passAgentsCredentials: true, passSandboxCredentials: true };
    const answer = await put(closed, { ...flags, isDefault: true, repositories: [{ repositoryId: 'db-8' }] });
    expect(answer.status).toBe(200);
    expect(answer.body.environment).toMatchObject({ ...flags, isDefault: true });
  },
  local,
);
