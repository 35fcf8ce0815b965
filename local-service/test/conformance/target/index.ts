/** The service that a conformance test runs against. */
import { afterAll, beforeAll } from 'vitest';
import { type LocalTarget, localPace, openLocalTarget } from './local-target.js';
import { type Address, remoteTarget } from './remote.js';
import { createTarget, type Target } from './target.js';

export { type LocalTarget, startLocalTarget } from './local-target.js';
export { type People, type Person, startPeople } from './people.js';
export { callSample, endpointNames, onesOfEverything, unknownIds } from './sample-requests.js';
export { scopedKey } from './scoped-key.js';
export type { Target } from './target.js';

/** A real machine takes minutes for what the local service does in milliseconds. */
const remotePace = { patienceMs: 300_000, intervalMs: 1_000 };

/**
 * The service of a test file: the configured one, or a local service that starts before the file's
 * tests and ends after them. Tests of a file share it, so they read only what they have created.
 */
export function useTarget(): Target {
  const remote = remoteTarget();
  let local: LocalTarget | undefined;
  const address = (): Address => {
    const found = remote ?? local;
    if (found === undefined)
      throw new Error('The target is there from the first test on, not while tests are collected.');
    return found;
  };
  const target = createTarget(address, remote ? remotePace : localPace);
  beforeAll(async () => {
    if (remote === undefined) local = await openLocalTarget();
  });
  afterAll(async () => {
    if (remote) await target.cleanUp();
    await local?.close();
  });
  return target;
}
