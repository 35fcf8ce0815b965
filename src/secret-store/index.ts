/** The store in which workers keep secrets that the service shows once. */
export { createSecretStore, type SecretStore } from './directory-store.js';
