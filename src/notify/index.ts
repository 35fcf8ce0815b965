/** The parts of notifications that each worker stores itself: commands by id, and signing secrets. */
export { notifyCommandId } from './command-id.js';
export { createNotifyCommands, type NotifyCommands } from './commands.js';
export { createNotifySecrets, type NotifySecretsOptions } from './secrets.js';
