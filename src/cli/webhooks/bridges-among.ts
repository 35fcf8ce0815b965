/** Which of the registered webhooks lead to a bridge. */
import { bridgeBaseOf } from '../../bridge/webhook-path.js';
import type { Webhook } from '../../contract/records/sandbox-records.js';

/** The registered endpoints whose path is that of a bridge. */
export function bridgesAmong(webhooks: readonly Webhook[]): Webhook[] {
  return webhooks.filter(({ url }) => URL.canParse(url) && bridgeBaseOf(new URL(url).pathname) !== undefined);
}
