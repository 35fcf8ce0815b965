/** Payloads as codec servers exchange them: the JSON of protocol buffers, bytes in base64. */
import type { Payload } from '@temporalio/common';
import { SandflowError } from '../contract/sandflow-error.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * A body without `payloads` has none: Temporal's command line sends such.
 * @throws SandflowError `bad_payloads`
 */
export function payloadsIn(body: string): Payload[] {
  let read: unknown;
  try {
    read = JSON.parse(body);
  } catch (cause) {
    throw new SandflowError('bad_payloads', 'The body is not JSON.', { cause });
  }
  const payloads = isFields(read) ? (read.payloads ?? []) : undefined;
  if (!Array.isArray(payloads)) throw new SandflowError('bad_payloads', 'The body must be {"payloads": […]}.');
  return payloads.map((payload: unknown) => {
    if (!isFields(payload)) throw new SandflowError('bad_payloads', 'A payload must be an object.');
    const metadata = isFields(payload.metadata) ? payload.metadata : {};
    const fields = Object.entries(metadata).map(([name, value]) => [name, bytesOf(value)] as const);
    return { metadata: Object.fromEntries(fields), data: bytesOf(payload.data) };
  });
}

export function payloadsOut(payloads: readonly Payload[]): Fields[] {
  const text = (bytes: Uint8Array | null | undefined) => Buffer.from(bytes ?? []).toString('base64');
  return payloads.map(({ metadata, data }) => ({
    metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([name, value]) => [name, text(value)])),
    data: text(data),
  }));
}

function bytesOf(value: unknown): Buffer {
  return Buffer.from(typeof value === 'string' ? value : '', 'base64');
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
