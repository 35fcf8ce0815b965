/** Puts a worker together. */
export { createSandflowWorker, type SandflowWorker, type SandflowWorkerOptions } from './create-worker.js';
export { logTo, serveMetrics } from './serve-metrics.js';
export { encryptedBundle, workflowBundlePath } from './workflow-bundle.js';
