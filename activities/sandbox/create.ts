/** Retry class `keyed`: create and fork. */
import type { SandboxClient } from '../../src/client/index.js';
import type { CreateSandboxBody, ForkBody } from '../../src/contract/requests/sandbox-requests.js';
import type { OtherFields } from '../../src/contract/workflow-safe/other-fields.js';
import { bytesOf, type Text } from '../../src/contract/workflow-safe/stored-text.js';
import { timeToSend } from '../../src/contract/workflow-safe/transfer-time.js';
import type { ResultStore } from '../../src/result-store/index.js';
import { repeatable } from '../retry/attempt.js';
import { createIdempotently, type KeyedCall, type KeyedSandbox } from '../retry/keyed-create.js';
import { sendRecorded } from '../retry/recorded-call.js';
import { readText } from '../store/texts.js';

interface RecordedKey {
  /** Key of the record of this call in the result store, for items of batches. Default: no record. */
  readonly record?: string;
}

export interface CreateSandboxInput extends Omit<KeyedCall, 'name'>, RecordedKey {
  /** The same bytes in every attempt, because it comes from the history. `name` contains the id of the owner. */
  readonly body: Omit<CreateSandboxBody, 'setupScript'> & {
    readonly name: string;
    readonly setupScript?: Text;
  } & OtherFields;
  /** Derived from the execution chain, the step and the generation; never random. */
  readonly idempotencyKey: string;
}

export interface ForkSandboxInput extends Omit<KeyedCall, 'name'>, RecordedKey {
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
  return async function createSandbox(input: CreateSandboxInput): Promise<KeyedSandbox> {
    const { idempotencyKey } = input;
    return repeatable((attempt) => {
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
      return sendRecorded(input, { results, send });
    });
  };
}

/**
 * Forks a sandbox. Safe to repeat: see `createIdempotently`.
 * @throws ApplicationFailure `outcome_unknown` if it is unknown whether the fork took effect
 */
export function forkSandboxActivity(client: SandboxClient, results: ResultStore) {
  return async function forkSandbox(input: ForkSandboxInput): Promise<KeyedSandbox> {
    const { sandboxId, idempotencyKey } = input;
    return repeatable((attempt) => {
      const send = (call: ForkSandboxInput) => {
        const make = (signal: AbortSignal) => client.forkSandbox(sandboxId, call.body, { idempotencyKey, signal });
        return createIdempotently(
          { ...call, name: call.body.name },
          { client, attempt, endpoint: 'forkSandbox', send: make },
        );
      };
      return sendRecorded(input, { results, send });
    });
  };
}
