export { countCalls } from './count-calls.js';
export {
  createSandflowWorker,
  type OwnActivity,
  type SandflowWorker,
  type SandflowWorkerOptions,
} from './create-worker.js';
export { type Encoding, openEncoding } from './open-encoding.js';
export { logTo, serveMetrics } from './serve-metrics.js';
export { encryptedBundle, unencryptedBundle, workflowBundlePath } from './workflow-bundle.js';
