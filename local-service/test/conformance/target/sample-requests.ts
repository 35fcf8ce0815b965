/** One well-formed request for each endpoint of the contract. */
import { type EndpointName, endpoints } from '../../../../src/contract/endpoints/endpoints.js';
import type { Answer, CallOptions } from './answer.js';
import type { Target } from './target.js';

export const endpointNames = Object.keys(endpoints) as EndpointName[];

/** Values for the `{parameters}` of paths. */
export interface Ids {
  readonly sandboxId: string;
  readonly stopId: string;
  readonly promptId: string;
  readonly snapshotId: string;
  readonly operationId: string;
  readonly environmentId: string;
  readonly webhookId: string;
  readonly apiKeyId: string;
}

/** Well-formed ids without a resource. */
export const unknownIds: Ids = {
  sandboxId: 'bx_22222222',
  stopId: 'stop_000000000000000000000000',
  promptId: 'prm_000000000000000000000000',
  snapshotId: 'snap_000000000000000000000000',
  operationId: 'del_000000000000000000000000',
  environmentId: '00000000-0000-4000-8000-000000000000',
  webhookId: 'wh_000000000000000000000000',
  apiKeyId: 'sak_000000000000000000000000',
};

const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f sample';
const webhook = { name: 'sample', url: 'https://hooks.example.com/sample', events: ['sandbox.ready'] };

const bodies: Partial<Record<EndpointName, unknown>> = {
  createSandbox: { noEnv: true },
  updateSandbox: { name: 'renamed-by-sample' },
  resumeSandbox: {},
  forkSandbox: {},
  sendPrompt: { prompt: 'Say hello.' },
  writeFile: { path: 'written-by-sample', content: 'x' },
  runCommand: { command: 'touch run-by-sample' },
  setSshKey: { publicKey },
  updateEnvironment: { name: 'renamed-by-sample' },
  upgradeEnvironment: {},
  createWebhook: webhook,
  updateWebhook: { name: 'renamed-by-sample' },
  createApiKey: { name: 'sample' },
  updateDataRetention: { zeroDataRetention: true },
  selectRepo: { fullName: 'nobody/nothing' },
  updateSecrets: { set: { SAMPLE: 'x' } },
};

const queries: Partial<Record<EndpointName, string>> = {
  readFile: '?path=kept.txt',
  downloadArtifact: '?path=kept.txt',
  downloadSnapshotFile: '?path=kept.txt',
};

/** Makes the sample request of an endpoint. */
export function callSample(target: Target, name: EndpointName, ids: Ids, options: CallOptions = {}): Promise<Answer> {
  const { method, path } = endpoints[name];
  const filled = path.replace(/\{(\w+)\}/g, (_, key: keyof Ids) => ids[key]);
  const confirm = name === 'deleteSnapshot' ? ids.snapshotId : ids.sandboxId;
  return target.call(method, `${filled}${queries[name] ?? ''}`, {
    body: bodies[name],
    headers: method === 'DELETE' ? { 'x-svc-confirm-delete': confirm } : {},
    ...options,
  });
}

/** A ready sandbox with one of everything that has an id, all of the target's account. */
export async function onesOfEverything(target: Target, session: string): Promise<Ids> {
  const gone = await target.create({ noEnv: true });
  const { operationId } = (
    await target.call('DELETE', `/sandboxes/${gone}`, { headers: { 'x-svc-confirm-delete': gone } })
  ).body;
  const sandboxId = await target.ready();
  await target.call('PUT', `/sandboxes/${sandboxId}/files`, { body: { path: 'kept.txt', content: 'kept' } });
  const { promptId } = (await target.prompt(sandboxId, 'Say hello.')).body;
  await target.promptEnd(sandboxId, promptId);
  const { id: stopId } = (await target.call('POST', `/sandboxes/${sandboxId}/stop`)).body;
  await target.reach(sandboxId, 'archived');
  const { snapshot } = (await target.call('GET', `/sandboxes/${sandboxId}/snapshots/latest`)).body;
  await target.call('POST', `/sandboxes/${sandboxId}/resume`);
  await target.reach(sandboxId, 'ready');
  const { environments } = (await target.call('GET', '/environments')).body;
  const created = await target.call('POST', '/webhooks', { body: webhook });
  const { apiKey } = (await target.call('POST', '/api-keys/scoped', { key: session, body: { name: 'sample' } })).body;
  return {
    sandboxId,
    stopId,
    promptId,
    snapshotId: snapshot.id,
    operationId,
    environmentId: environments[0]?.id ?? '',
    webhookId: created.body.webhook.id,
    apiKeyId: apiKey.id,
  };
}
