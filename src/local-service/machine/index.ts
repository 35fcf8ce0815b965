/** The machines of the local service. */

export { removeTree } from './disk/copy-tree.js';
export { isMachineId, sandboxHome } from './disk/directories.js';
export { streamFolder } from './disk/folder-stream.js';
export { visitTree } from './disk/listing.js';
export { listMachines, replaceMachines } from './disk/whole-state.js';
export { isolationText, isolationWarnings } from './isolation/choose-isolation.js';
export { createMachineHost } from './local-machine-host.js';
export { MachineError, type MachineErrorCode } from './machine-error.js';
export type { MachineDescription, MachineHost } from './machine-host.js';
export { type NetworkSetting, networkSettingSchema } from './network/network-setting.js';
export { programEnvironment } from './program.js';
