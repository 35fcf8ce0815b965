/** Where workers keep secrets that the service shows once. */
export { createSecretStore } from './directory-store.js';
export type { SecretStore } from './secret-store.js';
