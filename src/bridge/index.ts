/** The bridge, which turns signed webhooks into signals, and its registration at the service. */
export type { BridgeLog, BridgeOptions, SecretSource } from './bridge-options.js';
export { type Bridge, createBridge } from './create-bridge.js';
export { createSecretSource, readSecrets, type SecretSourceOptions } from './secret-source.js';
export { webhookPath } from './webhook-path.js';
export {
  type EnsuredWebhook,
  type EnsureWebhookOptions,
  ensureWebhook,
  rotateWebhook,
} from './webhook-registration.js';
