import type { IncomingHttpHeaders } from 'node:http';
import { verifyNotification } from '../../../../src/webhook/index.js';

/** What sandflow tells, once: undefined where somebody else sent it, or where it came before. */
export function readNotification(headers: IncomingHttpHeaders, rawBody: Buffer, secret: string, had: Set<string>) {
  const verified = verifyNotification({ headers, rawBody, secrets: [secret] });
  if (!verified.ok || had.has(verified.id)) return undefined;
  had.add(verified.id);
  return JSON.parse(rawBody.toString('utf8')) as { readonly event: string; readonly outcome: string | null };
}
