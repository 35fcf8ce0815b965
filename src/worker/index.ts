/** Puts a worker together. */
export { createSandflowWorker, type SandflowWorker, type SandflowWorkerOptions } from './create-worker.js';
export { serveMetrics } from './serve-metrics.js';
export { encryptedBundle, workflowBundlePath } from './workflow-bundle.js';
