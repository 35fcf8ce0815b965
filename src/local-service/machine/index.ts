/** The machines of the local service. */
export { createMachineHost } from './local-machine-host.js';
export { SANDBOX_HOME } from './machine-directories.js';
export { MachineError, type MachineErrorCode } from './machine-error.js';
export type { MachineHost } from './machine-host.js';
