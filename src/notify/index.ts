/** The secrets that sign notifications. Each worker stores them itself. */
export { createNotifySecrets, type NotifySecretsOptions } from './secrets.js';
