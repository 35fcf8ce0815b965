/** Puts a worker together. */
export {
  createSandflowWorker,
  encryptedBundle,
  type OwnActivity,
  type SandflowWorker,
  type SandflowWorkerOptions,
  workflowBundlePath,
} from './create-worker.js';
export { logTo, serveMetrics } from './serve-metrics.js';
