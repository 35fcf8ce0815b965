/** Puts a worker together. */
export {
  createSandflowWorker,
  encryptedBundle,
  type OwnActivity,
  type SandflowWorker,
  type SandflowWorkerOptions,
  workflowBundlePath,
} from './create-worker.js';
export { type Encoding, openEncoding } from './open-encoding.js';
export { logTo, serveMetrics } from './serve-metrics.js';
