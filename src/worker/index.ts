/** Puts a worker together. */
export { createSandflowWorker, type SandflowWorker, type SandflowWorkerOptions } from './create-worker.js';
export { workflowBundlePath } from './workflow-bundle.js';
