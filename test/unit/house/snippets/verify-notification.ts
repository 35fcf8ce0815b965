import type { IncomingHttpHeaders } from 'node:http';
import { verifyNotification } from '../../../../src/webhook/index.js';

/** A new notification of sandflow; undefined if it is forged or was received before. */
export function readNotification(headers: IncomingHttpHeaders, rawBody: Buffer, secret: string, had: Set<string>) {
  const verified = verifyNotification({ headers, rawBody, secrets: [secret] });
  if (!verified.ok || had.has(verified.id)) return undefined;
  had.add(verified.id);
  return JSON.parse(rawBody.toString('utf8')) as { readonly event: string; readonly outcome: string | null };
}
