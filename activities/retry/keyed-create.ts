/**
 * Retry class `keyed`: shared by create and fork. With an idempotency key, a call can be repeated for 24 h. After that,
 * and after a reset, the name shows whether the call took effect, because it is unique to its job, step and generation.
 */

import { ownerWorkflowId } from '../../src/addresses/addresses.js';
import { type SandboxClient, UnexpectedResponseError } from '../../src/client/index.js';
import type { Sandbox } from '../../src/contract/records/sandbox-records.js';
import { isSandboxId } from '../../src/contract/workflow-safe/ids.js';
import type { SandboxView } from '../../src/contract/workflow-safe/sandbox-view.js';
import { sandboxView } from '../sandbox-view.js';
import type { Attempt } from './attempt.js';
import { outcomeUnknown } from './classify.js';

export interface KeyedCall {
  /** The exact name, which contains the id of the owner. */
  readonly name: string;
  /** Earliest possible time of the key's first send, in ms since the epoch. */
  readonly firstSentAtMs: number;
  /** True after a reset, because an earlier run may have sent the key, and this run does not know it. */
  readonly lookFirst: boolean;
  /** True if nobody else can have the name, so that a sandbox of any age with this name matches. Default: false. */
  readonly ofAnyAge?: boolean;
}

/** A sandbox returned by a keyed call. */
export interface KeyedSandbox extends SandboxView {
  /** True if the sandbox was found by its name: an earlier run created it. */
  readonly found?: true;
  /** True if an earlier call with the same key may have created the sandbox. Somebody may then have renamed it. */
  readonly repeated?: true;
}

export interface KeyedOptions {
  readonly client: SandboxClient;
  readonly attempt: Attempt;
  readonly endpoint: 'createSandbox' | 'forkSandbox';
  /** Of a fork. */
  readonly sourceId?: string;
  /** Makes the call with its key. */
  readonly send: (signal: AbortSignal) => Promise<{ readonly sandbox: Sandbox }>;
}

/** The service keeps a key for 24 h; one hour is a margin for clock skew and slow calls. */
const trustKeyForMs = 23 * 3_600_000;
const clockSkewMs = 300_000;
const verbs = { createSandbox: 'create', forkSandbox: 'fork' } as const;

/**
 * Creates or forks a sandbox. Safe to repeat. Within 23 h of the first send, the key prevents a second sandbox
 * (specification, "Idempotency results"). Later, and after a reset, it first searches for the exact name (trap S4).
 *
 * @throws ApplicationFailure `outcome_unknown` if the key is too old and the name is not found, or found twice
 */
export async function createIdempotently(call: KeyedCall, options: KeyedOptions): Promise<KeyedSandbox> {
  const { attempt, endpoint } = options;
  const keyIsOld = Date.now() - call.firstSentAtMs >= trustKeyForMs;
  if (keyIsOld || call.lookFirst) {
    const adopted = await findByName(call, options);
    if (adopted) return { ...sandboxView(adopted), found: true };
    if (keyIsOld) {
      const what = `The ${verbs[endpoint]} of "${call.name}"`;
      throw outcomeUnknown(`${what} was first sent more than 23 hours ago, and no sandbox has that name.`, {
        endpoint,
      });
    }
  }
  const { sandbox } = await attempt.call(options.send);
  if (isOfOthers(call, sandbox) || (isNamedByOthers(call, sandbox) && !(await hasNameOfSource(sandbox, options)))) {
    throw new UnexpectedResponseError(endpoint, 202, 'sandbox.name', 'belongs to another sandbox');
  }
  return { ...sandboxView(sandbox), ...((call.lookFirst || attempt.maybeSent) && { repeated: true }) };
}

/**
 * True if the answer to a create is about a sandbox that this call cannot have created. A different name alone proves
 * nothing, because the service may not keep names. There are three proofs: the caller is not the owner, the sandbox is
 * older than the call, or the name belongs to another workflow.
 */
function isOfOthers(call: KeyedCall, { name, access, createdAt }: Sandbox): boolean {
  if (name === call.name) return false;
  if ((access ?? 'owner') !== 'owner') return true;
  return !call.lookFirst && createdAt != null && Date.parse(createdAt) < call.firstSentAtMs - clockSkewMs;
}

function isNamedByOthers(call: KeyedCall, { name }: Sandbox): boolean {
  return name !== undefined && name !== call.name && ownerWorkflowId(name) !== undefined;
}

/** A service that is given no name, or keeps none, may give a fork that of its source. */
async function hasNameOfSource({ name }: Sandbox, { client, attempt, sourceId }: KeyedOptions): Promise<boolean> {
  if (sourceId === undefined) return false;
  const { sandbox } = await attempt.call((signal) => client.getSandbox(sourceId, { signal }));
  return sandbox.name === name;
}

async function findByName(call: KeyedCall, { client, attempt, endpoint }: KeyedOptions): Promise<Sandbox | undefined> {
  const sandboxes = await attempt.call((signal) => client.listAllSandboxes({}, { signal }));
  const began = call.ofAnyAge ? Number.NEGATIVE_INFINITY : call.firstSentAtMs - clockSkewMs;
  const matches = sandboxes.filter(
    ({ name, access, createdAt }) =>
      name === call.name && (access ?? 'owner') === 'owner' && (createdAt == null || Date.parse(createdAt) >= began),
  );
  if (matches.length > 1) {
    const why = `${matches.length} sandboxes have the name "${call.name}".`;
    throw outcomeUnknown(why, { endpoint });
  }
  const match = matches[0];
  // The sandbox exists, but its id in this row is malformed. If the row were ignored, a second sandbox would be
  // created.
  if (match && !isSandboxId(match.id)) {
    throw new UnexpectedResponseError('listSandboxes', 200, 'sandboxes[].id', 'is not the id of a sandbox');
  }
  return match;
}
