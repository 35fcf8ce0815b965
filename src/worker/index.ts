export { countCalls } from './count-calls.js';
export {
  createSandflowWorker,
  type OwnActivity,
  type SandflowWorker,
  type SandflowWorkerOptions,
} from './create-worker.js';
export { type Encoding, openEncoding } from './open-encoding.js';
export { SandflowPlugin, type SandflowPluginOptions } from './plugin.js';
export type { SandflowParts } from './queues.js';
export {
  type RefusedWorkflow,
  type ReplayOptions,
  type ReplayReport,
  replayOpenWorkflows,
} from './replay-open.js';
export { countCallsByCode, histogramBuckets, logTo, serveMetrics } from './serve-metrics.js';
export { workerVersion } from './version.js';
export { encryptedBundle, unencryptedBundle, workflowBundlePath } from './workflow-bundle.js';
