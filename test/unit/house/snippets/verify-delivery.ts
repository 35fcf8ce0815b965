import type { IncomingHttpHeaders } from 'node:http';
import { verifyDelivery } from '../../../../src/index.js';

/** True for a delivery that the service has signed within the last five minutes. */
export function isGenuine(headers: IncomingHttpHeaders, rawBody: Buffer, secret: string): boolean {
  return verifyDelivery({ headers, rawBody, secrets: [secret], nowMs: Date.now() }).ok;
}
