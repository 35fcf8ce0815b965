/** Examples of requests, by endpoint. A test sends each example to the local service. */
import type { EndpointName } from '../../../../src/contract/endpoints/endpoints.js';

type Example = Readonly<Record<string, unknown>>;

export const bodyExamples: Partial<Record<EndpointName, Example>> = {
  createSandbox: { name: 'nightly-build', type: 'small', ttlSeconds: 3600 },
  forkSandbox: { name: 'nightly-build-fork', ttlSeconds: 3600 },
  updateSandbox: { name: 'nightly-build', ttlSeconds: 7200 },
  resumeSandbox: { type: 'default', ttlSeconds: 3600 },
  sendPrompt: {
    prompt: 'Run the tests and fix the failures.',
    provider: 'codex',
    reasoningEffort: 'medium',
    new: true,
  },
  writeFile: { path: 'notes/todo.txt', content: 'buy milk\n', encoding: 'utf8' },
  runCommand: { command: 'ls -la', timeoutSeconds: 30 },
  openDesktop: { publicAccess: false },
  setSshKey: {
    publicKey: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGPKSUTyz1HwHReFVvD5obVsALAgJRNarH4TRpNePnAS me@example.com',
  },
  createWebhook: {
    name: 'lifecycle',
    url: 'https://hooks.example.com/sandboxes',
    events: ['sandbox.ready', 'sandbox.archived'],
  },
  updateWebhook: { events: ['sandbox.ready', 'sandbox.hydrated', 'sandbox.error', 'sandbox.archived'] },
  updateEnvironment: { envContents: 'LOG_LEVEL=debug\n', passSecrets: true },
  upgradeEnvironment: { agentIds: ['bx_abcd2345'] },
  updateSecrets: { set: { NPM_TOKEN: 'a secret value' }, unset: ['OLD_TOKEN'] },
  selectRepo: { fullName: 'octo/hello', baseBranch: 'main' },
  updateDataRetention: { zeroDataRetention: true },
  createApiKey: { name: 'nightly-ci', preset: 'ci', ttlSeconds: 2592000 },
};

/** Values of path and query parameters, by name. */
export const parameterExamples: Readonly<Record<string, string | number>> = {
  sandboxId: 'bx_abcd2345',
  stopId: 'stop_0123456789abcdef01234567',
  promptId: 'prm_0123456789abcdef01234567',
  operationId: 'del_0123456789abcdef01234567',
  snapshotId: 'snap_0123456789abcdef01234567',
  webhookId: 'wh_0123456789abcdef01234567',
  apiKeyId: 'sak_0123456789abcdef01234567',
  environmentId: '4b0d1f0e-6a0f-4d0c-9b7e-2f1c5d3a7e11',
  include: 'cost',
  limit: 50,
  path: 'notes/todo.txt',
};
