/** A stand whose worker sees the service as a test scripts it: answers lost, refused or changed at exact moments. */
import { ApiError, ConnectionError, type SandboxClient } from '../../src/client/index.js';
import type { EndpointName } from '../../src/contract/endpoints/endpoints.js';
import { errorMeaning } from '../../src/contract/workflow-safe/error-codes.js';
import { changedBy } from './changed-stand.js';
import { createStand, type Stand, type StandOptions } from './workflow-harness.js';

export interface PlayedStand extends Stand {
  /** Replaces methods of the worker's client until the next call of `play`. */
  play(methods: Partial<SandboxClient>): void;
}

export async function createPlayedStand(options: Pick<StandOptions, 'service'> = {}): Promise<PlayedStand> {
  let played: Partial<SandboxClient> = {};
  const stand = await createStand({ ...options, through: changedBy(() => played) });
  return {
    ...stand,
    play(methods) {
      played = methods;
    },
  };
}

/** A refusal by the service. */
export function refusal(endpoint: EndpointName, status: number, code: string): ApiError {
  const meaning = errorMeaning(status, code);
  const rest = { requestId: null, retryAfterMs: null, details: null };
  return new ApiError('no', { endpoint, status, code, typed: true, meaning, ...rest });
}

/** The connection broke after the first byte, so the effect is unknown. */
export const lostAnswer = (endpoint: EndpointName) => new ConnectionError(endpoint, true, 'ECONNRESET');

/** A manually created sandbox, once it is usable. */
export async function somebodysSandbox(stand: Stand): Promise<string> {
  const { sandbox } = await stand.api.createSandbox({ name: 'by hand', ttlSeconds: 3_600 });
  for (;;) {
    if ((await stand.api.getSandbox(sandbox.id)).sandbox.state === 'ready') return sandbox.id;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
