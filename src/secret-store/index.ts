/** The store in which workers keep secrets that the service shows once. */
export { createSecretStore } from './create-store.js';
export type { SecretStore } from './secret-store.js';
