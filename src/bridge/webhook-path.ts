import { withoutEndSlashes } from '../texts/urls.js';

/** Path of the deliveries of the service, below the base URL of a bridge. */
export const webhookPath = '/webhooks/sandbox';

/**
 * The base path of a bridge that receives deliveries at `path`, such as `` or `/sandflow`; undefined if `path` is none of
 * a bridge. A slash at the end does not matter.
 */
export function bridgeBaseOf(path: string): string | undefined {
  const plain = withoutEndSlashes(path);
  return plain.endsWith(webhookPath) ? plain.slice(0, -webhookPath.length) : undefined;
}
