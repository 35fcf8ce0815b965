/** Encryption of what Temporal and the result store hold. */
export { type CodecServer, type CodecServerOptions, createCodecServer } from './codec-server.js';
export { createEncryptedDataConverter, failureConverterPath } from './data-converter.js';
export { encryptResults } from './encrypted-store.js';
export { type KeyRing, newKeyLine, parseKeyRing, type RingKey } from './key-ring.js';
export { createPayloadCodec, type PayloadCodecOptions } from './payload-codec.js';
export { readPrivateText } from './private-text.js';
export { readKeyRing } from './read-key-ring.js';
