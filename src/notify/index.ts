/** What a worker has of its own to deliver notifications: commands by id, and secrets that sign. */
export { createNotifyCommands, type NotifyCommands, notifyCommandId } from './commands.js';
export { createNotifySecrets, type NotifySecretsOptions } from './secrets.js';
