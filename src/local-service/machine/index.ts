/** The machines of the local service. */
export { createMachineHost, type MachineHostOptions } from './local-machine-host.js';
export { MachineError, type MachineErrorCode } from './machine-error.js';
export type { CommandOutcome, CommandSpec, CommandWatch, MachineHost } from './machine-host.js';
