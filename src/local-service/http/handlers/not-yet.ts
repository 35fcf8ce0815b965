import { ServiceError } from '../../service-error.js';
import type { Operations } from '../operation.js';

const refuse = (): never => {
  throw new ServiceError(501, 'http_501', 'The local service does not answer this endpoint yet.');
};

export const notYetOperations = {
  getLimits: refuse,
  getDataRetention: refuse,
  updateDataRetention: refuse,
  listApiKeys: refuse,
  createApiKey: refuse,
  getApiKeyUsage: refuse,
  rotateApiKey: refuse,
  revokeApiKey: refuse,
  shareSandbox: refuse,
  unshareSandbox: refuse,
  listRepos: refuse,
  selectRepo: refuse,
  listSecrets: refuse,
  updateSecrets: refuse,
  listEnvironments: refuse,
  updateEnvironment: refuse,
  upgradeEnvironment: refuse,
  forkSandbox: refuse,
  getSandboxUsage: refuse,
  listProcesses: refuse,
  downloadArtifact: refuse,
  openDesktop: refuse,
  setSshKey: refuse,
  listSnapshots: refuse,
  listSandboxSnapshots: refuse,
  getLatestSnapshot: refuse,
  getSnapshotTree: refuse,
  downloadSnapshotFile: refuse,
  downloadSnapshot: refuse,
  deleteSnapshot: refuse,
} satisfies Partial<Operations>;
