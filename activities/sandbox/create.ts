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

/** The parts of both calls. */
interface NewSandboxCall extends Omit<KeyedCall, 'name'> {
  /** Derived from the execution chain, the step and the generation; never random. */
  readonly idempotencyKey: string;
  /** Key of the record of this call in the result store, for items of batches. Default: no record. */
  readonly record?: string;
  /** The state that the sandbox must start from, for items of batches. Default: any. */
  readonly startsFrom?: SourceState;
}

export interface CreateSandboxInput extends NewSandboxCall {
  /** The same bytes in every attempt, because it comes from the history. `name` contains the id of the owner. */
  readonly body: Omit<CreateSandboxBody, 'setupScript'> & {
    readonly name: string;
    readonly setupScript?: Text;
  } & OtherFields;
}

export interface ForkSandboxInput extends NewSandboxCall {
  /** Id of the sandbox to fork. */
  readonly sandboxId: string;
  /** As that of a create. */
  readonly body: ForkBody & { readonly name: string } & OtherFields;
}

/** Both share reads of their sources. */
export function createSandboxActivities(client: SandboxClient, results: ResultStore) {
  const readSourceChange = createSharedSourceReads(client);

  /** Makes a call, and adds why the sandbox may not have started from the wanted state. */
  async function started<Call extends NewSandboxCall & { readonly body: object }>(
    attempt: Attempt,
    input: Call,
    send: (call: Call) => Promise<KeyedSandbox>,
  ): Promise<StartedSandbox> {
    const made = await sendRecorded(input, { results, send });
    if (input.startsFrom === undefined) return made;
    try {
      return { ...made, sourceChange: await readSourceChange(attempt, input.startsFrom) };
    } catch {
      // A failed read must not look like a failed create. The workflow then reads the source itself.
      return made;
    }
  }

  return {
    /**
     * Creates a sandbox. Safe to repeat: see `createIdempotently`.
     * @throws ApplicationFailure `outcome_unknown` if it is unknown whether the create took effect
     */
    createSandbox: (input: CreateSandboxInput): Promise<StartedSandbox> =>
      repeatable((attempt) =>
        started(attempt, input, async (call) => {
          const { idempotencyKey } = call;
          const { setupScript, ...rest } = call.body;
          const body =
            setupScript === undefined ? rest : { ...rest, setupScript: await readText(results, setupScript) };
          const timeoutMs = timeToSend(bytesOf(setupScript ?? ''));
          const send = (signal: AbortSignal) => client.createSandbox(body, { idempotencyKey, signal, timeoutMs });
          return createIdempotently({ ...call, name: body.name }, { client, attempt, endpoint: 'createSandbox', send });
        }),
      ),

    /**
     * Forks a sandbox. Safe to repeat: see `createIdempotently`.
     * @throws ApplicationFailure `outcome_unknown` if it is unknown whether the fork took effect
     */
    forkSandbox: (input: ForkSandboxInput): Promise<StartedSandbox> =>
      repeatable((attempt) =>
        started(attempt, input, (call) => {
          const { sandboxId: sourceId, body, idempotencyKey } = call;
          const send = (signal: AbortSignal) => client.forkSandbox(sourceId, body, { idempotencyKey, signal });
          const options = { client, attempt, endpoint: 'forkSandbox', sourceId, send } as const;
          return createIdempotently({ ...call, name: body.name }, options);
        }),
      ),
  };
}
