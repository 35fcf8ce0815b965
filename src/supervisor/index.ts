export type { MainProgram } from './children.js';
export { type EnsureStackOptions, ensureStack, type StackHandle } from './ensure-stack.js';
export { type RunSupervisorOptions, runSupervisor } from './run-supervisor.js';
export { type StackPaths, stackPaths } from './stack-paths.js';
