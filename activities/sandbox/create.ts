/** Retry class `keyed`: create and fork. */
import type { SandboxClient } from '../../src/client/index.js';
import type { CreateSandboxBody, ForkBody } from '../../src/contract/requests/sandbox-requests.js';
import type { OtherFields } from '../../src/contract/workflow-safe/other-fields.js';
import type { SourceState } from '../../src/contract/workflow-safe/source-state.js';
import { timeToSend } from '../../src/contract/workflow-safe/transfer-time.js';
import { bytesOf, type Text } from '../../src/protocol/stored-text.js';
import type { ResultStore } from '../../src/result-store/index.js';
import { type Attempt, repeatable } from '../retry/attempt.js';
import { createIdempotently, type KeyedCall, type KeyedSandbox } from '../retry/keyed-create.js';
import { sendRecorded } from '../retry/recorded-call.js';
import { readText } from '../store/texts.js';
import { createSharedSourceReads } from './source-state.js';

/** A sandbox that started from a source. */
export interface StartedSandbox extends KeyedSandbox {
  /** Why it may not have started from the wanted state; null if it has. Absent if nothing was wanted or read. */
  readonly sourceChange?: string | null;
}

interface ItemCall {
  /** Key of the record of this call in the result store, for items of batches. Default: no record. */
  readonly record?: string;
  /** The state that the sandbox must start from, for items of batches. Default: any. */
  readonly startsFrom?: SourceState;
}

export interface CreateSandboxInput extends Omit<KeyedCall, 'name'>, ItemCall {
  /** The same bytes in every attempt, because it comes from the history. `name` contains the id of the owner. */
  readonly body: Omit<CreateSandboxBody, 'setupScript'> & {
    readonly name: string;
    readonly setupScript?: Text;
  } & OtherFields;
  /** Derived from the execution chain, the step and the generation; never random. */
  readonly idempotencyKey: string;
}

export interface ForkSandboxInput extends Omit<KeyedCall, 'name'>, ItemCall {
  /** Id of the sandbox to fork. */
  readonly sandboxId: string;
  /** The same bytes in every attempt, because it comes from the history. `name` contains the id of the owner. */
  readonly body: ForkBody & { readonly name: string } & OtherFields;
  /** Derived from the execution chain, the step and the generation; never random. */
  readonly idempotencyKey: string;
}

/**
 * Creates a sandbox. Safe to repeat: see `createIdempotently`.
 * @throws ApplicationFailure `outcome_unknown` if it is unknown whether the create took effect
 */
export function createSandboxActivity(client: SandboxClient, results: ResultStore) {
  const withSourceChange = createSourceComparison(client);
  return async function createSandbox(input: CreateSandboxInput): Promise<StartedSandbox> {
    const { idempotencyKey } = input;
    return repeatable(async (attempt) => {
      const send = async (call: CreateSandboxInput) => {
        const { setupScript, ...rest } = call.body;
        const body = setupScript === undefined ? rest : { ...rest, setupScript: await readText(results, setupScript) };
        const timeoutMs = timeToSend(bytesOf(setupScript ?? ''));
        const make = (signal: AbortSignal) => client.createSandbox(body, { idempotencyKey, signal, timeoutMs });
        return createIdempotently(
          { ...call, name: body.name },
          { client, attempt, endpoint: 'createSandbox', send: make },
        );
      };
      return withSourceChange(await sendRecorded(input, { results, send }), input, attempt);
    });
  };
}

/**
 * Forks a sandbox. Safe to repeat: see `createIdempotently`.
 * @throws ApplicationFailure `outcome_unknown` if it is unknown whether the fork took effect
 */
export function forkSandboxActivity(client: SandboxClient, results: ResultStore) {
  const withSourceChange = createSourceComparison(client);
  return async function forkSandbox(input: ForkSandboxInput): Promise<StartedSandbox> {
    const { sandboxId, idempotencyKey } = input;
    return repeatable(async (attempt) => {
      const send = (call: ForkSandboxInput) => {
        const make = (signal: AbortSignal) => client.forkSandbox(sandboxId, call.body, { idempotencyKey, signal });
        return createIdempotently(
          { ...call, name: call.body.name },
          { client, attempt, endpoint: 'forkSandbox', sourceId: sandboxId, send: make },
        );
      };
      return withSourceChange(await sendRecorded(input, { results, send }), input, attempt);
    });
  };
}

/** @returns a function that adds to what a call has made why it may not have started from the wanted state */
function createSourceComparison(client: SandboxClient) {
  const readSourceChange = createSharedSourceReads(client);
  return async (made: KeyedSandbox, { startsFrom }: ItemCall, attempt: Attempt): Promise<StartedSandbox> => {
    if (startsFrom === undefined) return made;
    try {
      return { ...made, sourceChange: await readSourceChange(attempt, startsFrom) };
    } catch {
      // A failed read must not look like a failed create. The workflow then reads the source itself.
      return made;
    }
  };
}
