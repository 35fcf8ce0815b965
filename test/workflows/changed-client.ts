/** A worker's client of which a test replaces calls while it is in use. */
import type { SandboxClient } from '../../src/client/index.js';

/**
 * For `through` of a stand.
 * @param changes asked at each call: what stands in place of the client's own
 */
export function changedBy(changes: () => Partial<SandboxClient>): (client: SandboxClient) => SandboxClient {
  return (client) =>
    new Proxy(client, {
      get:
        (own, name: keyof SandboxClient) =>
        (...args: never[]) =>
          ((changes()[name] ?? own[name]) as (...all: never[]) => unknown)(...args),
    });
}
