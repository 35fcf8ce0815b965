/** Whether a client encodes payloads, such as by encryption. */
import type { Client } from '@temporalio/client';

export function hasCodec({ options }: Client): boolean {
  return options.loadedDataConverter.payloadCodecs.length > 0;
}
