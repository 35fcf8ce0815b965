/** Encrypts the data that Temporal and the result store hold. */
export { type CodecServer, type CodecServerOptions, createCodecServer } from './codec-server.js';
export { encryptResults } from './encrypted-store.js';
export { type KeyRing, newKeyLine, parseKeyRing, type RingKey, readKeyRing } from './key-ring.js';
export {
  createEncryptedDataConverter,
  createPayloadCodec,
  failureConverterPath,
  type PayloadCodecOptions,
} from './payload-codec.js';
