/** Retry class `keyed`: create. */
import type { SandboxClient } from '../src/client/index.js';
import type { CreateSandboxBody } from '../src/contract/requests.js';
import type { SandboxView } from '../src/contract/sandbox-view.js';
import type { Counted } from '../src/contract/service-failure.js';
import { type Attempt, counted } from './calls.js';
import { outcomeUnknown } from './failures.js';
import { sandboxView } from './sandbox-view.js';

export interface CreateSandboxInput {
  /** Byte-stable across attempts: it comes from history. `name` is the address of the owner. */
  readonly body: CreateSandboxBody & { readonly name: string };
  /** Derived from the execution chain, the step and the generation; never drawn. */
  readonly idempotencyKey: string;
  /** When the key was first sent, at the earliest, in ms since the epoch. */
  readonly firstSentAtMs: number;
  /** True after a reset, when the key was sent by a run that this one does not remember. */
  readonly lookFirst: boolean;
}

/** The service keeps a key for 24 h; an hour of that is left for a clock that is off and a call that is slow. */
const trustKeyForMs = 23 * 3_600_000;
const clockSkewMs = 300_000;

/**
 * Creates a sandbox. Safe to repeat: within 23 h of the first send by its key (specification, "Idempotency results"),
 * from then on, and after a reset, by looking for its exact name first (trap S4).
 *
 * @throws ApplicationFailure `outcome_unknown` when the key is too old and the name is not found
 */
export function createSandboxActivity(client: SandboxClient) {
  return async function createSandbox(input: CreateSandboxInput): Promise<Counted<SandboxView>> {
    return counted(async (attempt) => {
      const keyIsOld = Date.now() - input.firstSentAtMs > trustKeyForMs;
      if (keyIsOld || input.lookFirst) {
        const adopted = await findByName(client, input, attempt);
        if (adopted) return adopted;
        if (keyIsOld) {
          throw outcomeUnknown(
            `The create of "${input.body.name}" was first sent more than 23 hours ago and no sandbox has that name.`,
            { endpoint: 'createSandbox', calls: attempt.calls() },
          );
        }
      }
      const { sandbox } = await attempt.call((signal) =>
        client.createSandbox(input.body, { idempotencyKey: input.idempotencyKey, signal }),
      );
      return sandboxView(sandbox);
    });
  };
}

async function findByName(
  client: SandboxClient,
  input: CreateSandboxInput,
  attempt: Attempt,
): Promise<SandboxView | undefined> {
  const sandboxes = await attempt.call((signal) => client.listAllSandboxes({}, { signal }));
  const began = input.firstSentAtMs - clockSkewMs;
  const matches = sandboxes.filter(
    ({ name, access, createdAt }) =>
      name === input.body.name &&
      (access ?? 'owner') === 'owner' &&
      (createdAt == null || Date.parse(createdAt) >= began),
  );
  if (matches.length > 1) {
    throw outcomeUnknown(`${matches.length} sandboxes have the name "${input.body.name}".`, {
      endpoint: 'createSandbox',
      calls: attempt.calls(),
    });
  }
  return matches[0] && sandboxView(matches[0]);
}
