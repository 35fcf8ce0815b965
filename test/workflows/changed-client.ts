/** A worker's client whose calls a test can replace while it is in use. */
import type { SandboxClient } from '../../src/client/index.js';

/**
 * For `through` of a stand.
 * @param changes read at each call: replacements for the client's methods
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
