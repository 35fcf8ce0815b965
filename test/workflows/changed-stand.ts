/** A worker's client whose calls a test can replace while it is in use, and a stand with such a worker. */
import { afterAll, afterEach, beforeAll } from 'vitest';
import type { SandboxClient } from '../../src/client/index.js';
import { heal } from './stop/stop-harness.js';
import { createStand, type Stand, type StandOptions } from './workflow-harness.js';

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

export interface ChangedStand {
  /** For hooks and tests: it does not exist before the hooks of the file. */
  readonly stand: Stand;
  /** Methods that replace those of the worker's client. Empty at the beginning of each test. */
  readonly change: Partial<SandboxClient>;
  /** Empties `change`. */
  readonly restore: () => void;
}

/** Creates one stand for all tests of a file, and closes it. Removes changes and faults after each test. */
export function shareChangedStand(options: StandOptions = {}): ChangedStand {
  let shared: Stand;
  const change: Partial<SandboxClient> = {};
  const restore = () => {
    for (const name of Object.keys(change)) delete change[name as keyof SandboxClient];
  };
  beforeAll(async () => {
    shared = await createStand({ ...options, through: changedBy(() => change) });
  });
  afterEach(async () => {
    restore();
    // Faults that a failed test leaves would make the following tests hang.
    await heal(shared);
  });
  afterAll(() => shared.close());
  return { stand: new Proxy({} as Stand, { get: (_, name: keyof Stand) => shared[name] }), change, restore };
}
