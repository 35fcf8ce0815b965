/** Encrypts payloads with their metadata on their way to Temporal: the codec, and the data converter that uses it. */

import { fileURLToPath } from 'node:url';
import { type DataConverter, METADATA_ENCODING_KEY, type Payload, type PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';
import { SandflowError } from '../errors/sandflow-error.js';
import { refusedInput } from '../protocol/refused-input.js';
import { requireOptions } from '../settings/required-options.js';
import { seal, unseal } from './cipher.js';
import type { KeyRing } from './key-ring.js';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;
const encrypted = 'binary/encrypted';
const keyIdField = 'encryption-key-id';

/** Options of `createPayloadCodec`. */
export interface PayloadCodecOptions {
  /**
   * For workers: refuses payloads that are not encrypted. The input of a workflow, a signal, an update or a query is
   * replaced by `refusedInput`, which our workflows refuse. Any other payload is an error. Default: false, so that such
   * payloads are read.
   */
  readonly requireEncrypted?: boolean;
}

/**
 * Creates a codec for Temporal's data converter. Payloads that are not encrypted are read unchanged, unless
 * `requireEncrypted` is set. A payload is not bound to its workflow, because a codec server and a heartbeat by task
 * token do not know the workflow. `decode` throws SandflowError `encryption_key_unknown`, `not_decryptable`,
 * `not_encrypted`.
 * @example
 * const dataConverter = { payloadCodecs: [createPayloadCodec(ring, { requireEncrypted: true })] };
 */
export function createPayloadCodec(
  ring: KeyRing,
  { requireEncrypted = false }: PayloadCodecOptions = {},
): PayloadCodec {
  requireOptions({ ring }, { ring: 'an object' });
  const codec: PayloadCodec = {
    async encode(payloads) {
      const { first } = ring;
      const metadata = { [METADATA_ENCODING_KEY]: Buffer.from(encrypted), [keyIdField]: Buffer.from(first.id) };
      return payloads.map((payload) => ({
        metadata: { ...metadata },
        data: seal(first, 'payload 1', PayloadMessage.encode(payload).finish()),
      }));
    },

    async decode(payloads, context) {
      return payloads.map((payload) => {
        if (isEncrypted(payload)) return decrypted(ring, payload);
        if (!requireEncrypted) return payload;
        if (context?.type === 'workflow') return refusedPayload;
        const message = 'A payload is not encrypted, and this worker refuses such payloads.';
        throw new SandflowError('not_encrypted', message);
      });
    },
  };
  encrypting.add(codec);
  return codec;
}

const encrypting = new WeakSet<PayloadCodec>();

/** True for a codec of `createPayloadCodec`. A second one would encrypt what is encrypted, and refuse what is decrypted. */
export function isEncrypting(codec: PayloadCodec): boolean {
  return encrypting.has(codec);
}

/** True for a payload that this codec, or another codec that follows Temporal's samples, has encrypted. */
function isEncrypted({ metadata }: Payload): boolean {
  return textOf(metadata?.[METADATA_ENCODING_KEY]) === encrypted;
}

function decrypted(ring: KeyRing, { metadata, data }: Payload): Payload {
  const plain = unseal(ring, textOf(metadata?.[keyIdField]), 'payload 1', data ?? new Uint8Array());
  const { metadata: fields, data: content } = PayloadMessage.decode(plain);
  return { metadata: { ...fields }, data: content };
}

const refusedPayload: Payload = {
  metadata: { [METADATA_ENCODING_KEY]: Buffer.from('json/plain') },
  data: Buffer.from(JSON.stringify(refusedInput)),
};

function textOf(bytes: Uint8Array | null | undefined): string {
  return bytes ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8') : '';
}

/** The module that puts messages and stacks of failures into payloads. The bundle of the workflows needs it too. */
export const failureConverterPath = fileURLToPath(new URL('../encryption/failure-converter.cjs', import.meta.url));

/**
 * The `dataConverter` of every client, worker and replay of a deployment whose payloads are encrypted. Messages and
 * stacks of failures are encrypted too.
 * @example
 * const dataConverter = createEncryptedDataConverter(await readKeyRing('/etc/sandflow/keys'));
 * const client = await connectTemporal(config.temporal.connect, { dataConverter });
 */
export function createEncryptedDataConverter(ring: KeyRing, options: PayloadCodecOptions = {}): DataConverter {
  return { payloadCodecs: [createPayloadCodec(ring, options)], failureConverterPath };
}
