/** The machines of the local service. */
export { visitTree } from './folder-listing.js';
export { streamFolder } from './folder-stream.js';
export { isolationText, isolationWarnings } from './isolation/warnings.js';
export { createMachineHost } from './local-machine-host.js';
export { SANDBOX_HOME } from './machine-directories.js';
export { MachineError, type MachineErrorCode } from './machine-error.js';
export type { MachineDescription, MachineHost } from './machine-host.js';
export { type NetworkSetting, networkSettingSchema } from './network/network-setting.js';
export { PROGRAM_ENVIRONMENT } from './program.js';
export { removeTree } from './tree-copy.js';
export { listMachines, replaceMachines } from './whole-state.js';
