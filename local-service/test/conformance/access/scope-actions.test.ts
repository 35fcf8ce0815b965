import { expect } from 'vitest';
import { type EndpointName, endpoints } from '../../../../src/contract/endpoints/endpoints.js';
import { rule } from '../rule.js';
import { callSample, endpointNames, scopedKey, startLocalTarget, unknownIds } from '../target/index.js';

const local = { needs: ['local'] } as const;

/** Independent of the endpoint table: what each action allows (specification, "Scope"). */
const unlocks: Readonly<Record<string, readonly EndpointName[]>> = {
  'sandbox.create': ['createSandbox'],
  'sandbox.read': [
    'listSandboxes',
    'getSandbox',
    'getStop',
    'getSandboxUsage',
    'getPrompt',
    'listEvents',
    'listProcesses',
    'getDeletionOperation',
  ],
  'sandbox.update': ['updateSandbox', 'shareSandbox', 'unshareSandbox'],
  'sandbox.stop': ['stopSandbox'],
  'sandbox.resume': ['resumeSandbox'],
  'sandbox.fork': ['forkSandbox'],
  'sandbox.delete': ['deleteSandbox'],
  'agent.prompt': ['sendPrompt', 'interruptSandbox'],
  exec: ['runCommand'],
  'file.read': ['readFile', 'downloadArtifact'],
  'file.write': ['writeFile'],
  ssh: ['setSshKey'],
  desktop: ['openDesktop'],
  host: [],
  'snapshot.read': [
    'listSnapshots',
    'listSandboxSnapshots',
    'getLatestSnapshot',
    'getSnapshotTree',
    'downloadSnapshotFile',
    'downloadSnapshot',
  ],
  'snapshot.write': ['deleteSnapshot'],
  'environment.read': ['listEnvironments'],
  'environment.write': ['updateEnvironment', 'upgradeEnvironment'],
  'account.read': [
    'getMe',
    'listProviderModels',
    'getLimits',
    'getDataRetention',
    'listRepos',
    'listSecrets',
    'listApiKeys',
    'getApiKeyUsage',
  ],
  'account.admin': [
    'createWebhook',
    'listWebhooks',
    'getWebhook',
    'updateWebhook',
    'deleteWebhook',
    'rotateWebhookSecret',
    'selectRepo',
    'updateSecrets',
    'createApiKey',
  ],
};
/** What an action allows besides: a key that may delete follows the deletion (assumption). */
const follows: Readonly<Record<string, readonly EndpointName[]>> = {
  'sandbox.delete': ['getDeletionOperation'],
  'snapshot.write': ['getDeletionOperation'],
};
/** Endpoints that no key may call. */
const sessionOnly: readonly EndpointName[] = ['updateDataRetention', 'rotateApiKey', 'revokeApiKey'];

const presets: Readonly<Record<string, readonly string[]>> = {
  'read-only': ['sandbox.read', 'file.read', 'snapshot.read', 'environment.read'],
  'full-sandbox': [
    ...['sandbox.read', 'sandbox.update', 'sandbox.stop', 'agent.prompt', 'exec', 'file.read', 'file.write', 'ssh'],
    ...['desktop', 'host', 'snapshot.read', 'snapshot.write', 'environment.read'],
  ],
  ci: [
    ...['sandbox.create', 'sandbox.read', 'sandbox.update', 'sandbox.stop', 'sandbox.resume', 'sandbox.fork'],
    ...['agent.prompt', 'exec', 'file.read', 'file.write', 'snapshot.read', 'snapshot.write', 'environment.read'],
  ],
  admin: Object.keys(unlocks),
};

type Body = Readonly<Record<string, unknown>>;

/**
 * Calls every endpoint with its own key, and expects success exactly if one of these actions allows it. Every key lists
 * keys: a restricted one gets an empty list.
 */
async function letsInExactly(body: Body, actions: readonly string[]): Promise<void> {
  const target = await startLocalTarget();
  const { secret } = await scopedKey(target, body);
  const allowed = actions.flatMap((action) => [...(unlocks[action] ?? []), ...(follows[action] ?? [])]);
  const expected = [...new Set<EndpointName>([...allowed, 'listApiKeys'])].sort();
  const letIn: EndpointName[] = [];
  for (const name of endpointNames) {
    const { status, body: answer } = await callSample(target, name, unknownIds, { key: secret });
    if (status !== 403) letIn.push(name);
    else if (sessionOnly.includes(name)) expect(answer.code, name).toBe('forbidden');
    // A key with `account.admin` alone is not admin-scoped: it may not create a key with more rights than its own.
    else if (name === 'createApiKey' && actions.includes('account.admin')) letIn.push(name);
    else expect(answer.code, name).toBe('api_key_action_forbidden');
  }
  expect(letIn.sort()).toEqual(expected);
}

rule(
  ['scope.both-hold', 'scope.default-deny'],
  'every endpoint of the contract requires one action, or is for sessions only',
  () => {
    const all = [...Object.values(unlocks).flat(), ...sessionOnly].sort();
    expect(all).toEqual([...endpointNames].sort());
    for (const [action, names] of Object.entries(unlocks)) {
      for (const name of names) expect(endpoints[name].scope, name).toBe(action);
    }
  },
);

for (const [preset, id] of [
  ['read-only', 'scope.preset-read-only'],
  ['full-sandbox', 'scope.preset-full-sandbox'],
  ['ci', 'scope.preset-ci'],
  ['admin', 'scope.preset-admin'],
] as const) {
  const ids = preset === 'admin' ? ([id, 'scope.wildcard'] as const) : ([id] as const);
  rule(
    [...ids, 'scope.default-deny'],
    `the preset ${preset} allows exactly the endpoints of its actions`,
    () => letsInExactly({ preset }, presets[preset] ?? []),
    local,
  );
}

for (const [actions, ids] of [
  [['sandbox.create'], ['scope.sandbox-create', 'scope.action-forbidden']],
  [['sandbox.read'], ['scope.sandbox-read']],
  [['sandbox.update'], ['scope.sandbox-update']],
  [['sandbox.stop'], ['scope.sandbox-stop']],
  [['sandbox.resume'], ['scope.sandbox-resume']],
  [['sandbox.fork'], ['scope.sandbox-fork']],
  [['sandbox.delete'], ['scope.sandbox-delete']],
  [['agent.prompt'], ['scope.agent-prompt']],
  [['exec'], ['scope.exec']],
  [['file.read'], ['scope.files']],
  [['file.write'], ['scope.files']],
  [['ssh'], ['scope.ssh']],
  [['desktop'], ['scope.desktop']],
  [['host'], ['scope.default-deny']],
  [['snapshot.read'], ['scope.snapshots']],
  [['snapshot.write'], ['scope.snapshots']],
  [['environment.read'], ['scope.environments']],
  [['environment.write'], ['scope.environments']],
  [['account.read'], ['scope.account-read']],
  [['account.admin'], ['scope.account-admin']],
] as const) {
  rule(
    ids,
    `a key with ${actions.join()} alone is accepted by exactly the endpoints of that action`,
    () => letsInExactly({ actions }, actions),
    local,
  );
}
