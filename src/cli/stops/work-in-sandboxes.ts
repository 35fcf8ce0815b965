/** Finds the sandboxes of a stop in which jobs work. */
import type { Sandbox } from '../../contract/records/sandbox-records.js';
import { workIn } from '../../workflow-client/sandbox-work.js';
import { createConcurrencyLimit } from '../connect/concurrency-limit.js';
import type { Platform } from '../connect/platform.js';
import { isOpenStop } from './choose-sandboxes.js';

/** How long the command waits for one answer before it goes on without, in ms. */
const answerWithinMs = 5_000;
const askedAtOnce = 8;

/**
 * The jobs and batches that work in each sandbox, by its id. A sandbox without any is left out, and so is one that is
 * archived or being stopped already, or about which nobody answers: a stop must not depend on this look.
 */
export async function workInEach(
  { temporal, config }: Pick<Platform, 'temporal' | 'config'>,
  sandboxes: readonly Sandbox[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const gate = createConcurrencyLimit(askedAtOnce);
  const look = (sandbox: Sandbox) =>
    temporal.withDeadline(Date.now() + answerWithinMs, () => workIn(temporal, sandbox, config.deployment));
  const found = await Promise.all(
    sandboxes
      .filter(({ state, stop }) => state !== 'archived' && !isOpenStop(stop))
      .map((one) => gate(async () => [one.id, await look(one).catch(() => [])] as const)),
  );
  return new Map(found.filter(([, ids]) => ids.length > 0));
}

/** Reads the named sandboxes once. One that cannot be read is left out. */
export async function lookAt({ service }: Pick<Platform, 'service'>, ids: readonly string[]): Promise<Sandbox[]> {
  const gate = createConcurrencyLimit(askedAtOnce);
  const read = (id: string) => service.getSandbox(id, { timeoutMs: answerWithinMs }).catch(() => undefined);
  const answers = await Promise.all(ids.map((id) => gate(() => read(id))));
  return answers.flatMap((answer) => answer?.sandbox ?? []);
}
