/** Checks that the keys of a command or a server fit the keys of the deployment. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { SandflowError } from '../../errors/sandflow-error.js';
import { anySignal } from '../../os/any-signal.js';
import { abortable } from '../../temporal/calls.js';
import { type Agreement, type AgreeOptions, agreeOnKeys } from '../../temporal/deployment-keys.js';
import { unreachable } from '../../temporal/errors.js';

/**
 * Checks the keys of a command. A command that is not sure of its keys must not go on: it would show nothing of what
 * is encrypted, and write what no worker can read.
 * @param options.address names Temporal in the error
 * @throws SandflowError `bad_configuration` or `keys_not_announced` if the keys do not fit; `temporal_unreachable` if
 *   Temporal does not answer in time; the reason of the signal
 */
export async function requireAgreement(
  client: Client,
  { address, signal, ...options }: AgreeOptions & { readonly address: string; readonly signal: AbortSignal },
): Promise<void> {
  const asked = await abortable(client, signal, () => agreeOnKeys(client, options));
  signal.throwIfAborted();
  if (asked.kind === 'unasked') throw unreachable(address, asked.reason);
}

const defaultAskAgainMs = 15_000;
const waitMs = 500;

export interface AgreeAtStartOptions extends AgreeOptions {
  /** Writes a message to the log. */
  readonly notice: (text: string) => void;
  /** Ends the wait for a worker. */
  readonly signal: AbortSignal;
  /** How long it waits between two checks while Temporal does not answer, in ms. Default: 15,000. */
  readonly askAgainMs?: number;
}

/**
 * Checks the keys of a server at its start. Waits until a worker has announced keys, because this server may start
 * before the worker. Retries while Temporal does not answer.
 * @returns `refused`, which rejects if a later check finds that the keys do not fit, and never resolves
 * @throws SandflowError `bad_configuration` if the keys do not fit; the reason of the signal
 */
export async function agreeAtStart(client: Client, options: AgreeAtStartOptions) {
  const { notice, signal } = options;
  const over = new AbortController();
  const stop = () => over.abort();
  const asked = await afterWorker(client, options);
  if (asked.kind === 'agreed') return { refused: new Promise<never>(() => undefined), stop };
  notice(`Cannot read the deployment's keys from Temporal (${asked.reason}); retrying.`);
  const refused = untilRefused(client, options, anySignal([signal, over.signal]));
  // After `stop`, nobody handles its rejection.
  refused.catch(() => undefined);
  return { refused, stop };
}

async function afterWorker(client: Client, options: AgreeAtStartOptions): Promise<Agreement> {
  let told = false;
  for (;;) {
    try {
      return await agreeOnKeys(client, options);
    } catch (error) {
      if (!(error instanceof SandflowError) || error.code !== 'keys_not_announced') throw error;
      if (!told) options.notice(`Waiting for a worker. ${error.message}`);
      told = true;
      await sleep(waitMs, undefined, { signal: options.signal });
    }
  }
}

async function untilRefused(client: Client, options: AgreeAtStartOptions, signal: AbortSignal): Promise<never> {
  const { askAgainMs = defaultAskAgainMs } = options;
  for (;;) {
    await sleep(askAgainMs, undefined, { signal });
    const asked = await agreeOnKeys(client, options);
    if (asked.kind === 'agreed') return new Promise(() => undefined);
  }
}
