import type { Client } from '@temporalio/client';
import type { Payload } from '@temporalio/common';

/** Whether a client encodes payloads, such as by encryption. */
export function hasCodec({ options }: Client): boolean {
  return options.loadedDataConverter.payloadCodecs.length > 0;
}

/** Decodes payloads as the client does. @throws the error of a codec */
export async function readPayloads(
  { options }: Pick<Client, 'options'>,
  payloads: readonly Payload[] | null | undefined,
): Promise<unknown[]> {
  const { payloadCodecs, payloadConverter } = options.loadedDataConverter;
  let decoded = [...(payloads ?? [])];
  for (const codec of payloadCodecs.toReversed()) decoded = await codec.decode(decoded);
  return decoded.map((payload) => payloadConverter.fromPayload(payload));
}
