/** The machines of the local service. */

export { vncPort } from './desktop/desktops.js';
export { supportsDesktop, viewerFolder } from './desktop/find-desktop.js';
export { sandboxHome } from './disk/directories.js';
export type { Restore } from './disk/restores.js';
export { isolationText, isolationWarnings } from './isolation/choose-isolation.js';
export { createMachineHost } from './local-machine-host.js';
export { MachineError, type MachineErrorCode } from './machine-error.js';
export type { MachineDescription, MachineHost } from './machine-host.js';
export { type NetworkSetting, networkSettingSchema } from './network/network-setting.js';
