import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import type { KeyRing } from './key-ring.js';
import { createPayloadCodec, type PayloadCodecOptions } from './payload-codec.js';

/** The module that puts messages and stacks of failures into payloads. The bundle of the workflows needs it too. */
export const failureConverterPath = fileURLToPath(new URL('./failure-converter.cjs', import.meta.url));

/**
 * The `dataConverter` of every client, worker and replay of a deployment whose payloads are encrypted. Messages and stacks
 * of failures are encrypted too.
 */
export function createEncryptedDataConverter(ring: KeyRing, options: PayloadCodecOptions = {}): DataConverter {
  return { payloadCodecs: [createPayloadCodec(ring, options)], failureConverterPath };
}
