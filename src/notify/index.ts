/** The parts of notifications that each worker stores itself: commands by id, and signing secrets. */
export { createNotifyCommands, type NotifyCommands, notifyCommandId } from './commands.js';
export { createNotifySecrets, type NotifySecretsOptions } from './secrets.js';
