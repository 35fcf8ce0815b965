export type { MainProgram } from './children.js';
export { ensureStack, type StackHandle } from './ensure-stack.js';
export { runSupervisor } from './run-supervisor.js';
export { localApiKeyFile } from './stack-paths.js';
