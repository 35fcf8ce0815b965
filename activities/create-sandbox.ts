/** Retry class `keyed`: create and fork. */
import type { SandboxClient } from '../src/client/index.js';
import type { CreateSandboxBody, ForkBody } from '../src/contract/requests.js';
import type { Counted } from '../src/contract/service-failure.js';
import { counted } from './calls.js';
import { type KeyedCall, type KeyedSandbox, sendKeyed } from './own-by-name.js';

export interface CreateSandboxInput extends Omit<KeyedCall, 'name'> {
  /** Byte-stable across attempts: it comes from history. `name` is the address of the owner. */
  readonly body: CreateSandboxBody & { readonly name: string };
  /** Derived from the execution chain, the step and the generation; never drawn. */
  readonly idempotencyKey: string;
}

export interface ForkSandboxInput extends Omit<KeyedCall, 'name'> {
  /** The source. */
  readonly sandboxId: string;
  /** Byte-stable across attempts: it comes from history. `name` is the address of the owner. */
  readonly body: ForkBody & { readonly name: string };
  /** Derived from the execution chain, the step and the generation; never drawn. */
  readonly idempotencyKey: string;
}

/**
 * Creates a sandbox. Safe to repeat: see `sendKeyed`.
 * @throws ApplicationFailure `outcome_unknown` when nobody can know whether the create took effect
 */
export function createSandboxActivity(client: SandboxClient) {
  return async function createSandbox(input: CreateSandboxInput): Promise<Counted<KeyedSandbox>> {
    const { body, idempotencyKey } = input;
    return counted((attempt) =>
      sendKeyed(
        { ...input, name: body.name },
        {
          client,
          attempt,
          endpoint: 'createSandbox',
          send: (signal) => client.createSandbox(body, { idempotencyKey, signal }),
        },
      ),
    );
  };
}

/**
 * Forks a sandbox. Safe to repeat: see `sendKeyed`.
 * @throws ApplicationFailure `outcome_unknown` when nobody can know whether the fork took effect
 */
export function forkSandboxActivity(client: SandboxClient) {
  return async function forkSandbox(input: ForkSandboxInput): Promise<Counted<KeyedSandbox>> {
    const { sandboxId, body, idempotencyKey } = input;
    return counted((attempt) =>
      sendKeyed(
        { ...input, name: body.name },
        {
          client,
          attempt,
          endpoint: 'forkSandbox',
          send: (signal) => client.forkSandbox(sandboxId, body, { idempotencyKey, signal }),
        },
      ),
    );
  };
}
