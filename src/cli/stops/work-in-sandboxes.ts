/** Finds the sandboxes of a stop in which jobs work. */
import { ApiError } from '../../client/index.js';
import type { Sandbox } from '../../contract/records/sandbox-records.js';
import { isOpenStop } from '../../contract/workflow-safe/states.js';
import { workIn } from '../../workflow-client/sandbox-work.js';
import { createConcurrencyLimit } from '../connect/concurrency-limit.js';
import type { Platform } from '../connect/platform.js';
import type { WorkBySandbox } from './choose-sandboxes.js';

/** How long the command waits for one answer, in ms. */
const answerWithinMs = 5_000;
const askedAtOnce = 8;

/** A sandbox, or only its id if the key may not read it, or if it is not shown. */
type Looked = Pick<Sandbox, 'id'> & Partial<Pick<Sandbox, 'name' | 'state' | 'stop'>>;

/** A sandbox without work is left out, and so is one that is archived or being stopped already. */
export async function workInEach(
  { temporal, config }: Pick<Platform, 'temporal' | 'config'>,
  sandboxes: readonly Looked[],
): Promise<WorkBySandbox> {
  const gate = createConcurrencyLimit(askedAtOnce);
  const look = (sandbox: Looked) =>
    temporal.withDeadline(Date.now() + answerWithinMs, () => workIn(temporal, sandbox, config.deployment));
  const found = await Promise.all(
    sandboxes
      .filter(({ state, stop }) => state !== 'archived' && !isOpenStop(stop))
      .map((one) => gate(async () => [one.id, await look(one).catch(() => 'unknown' as const)] as const)),
  );
  return new Map(found.filter(([, work]) => work.length > 0));
}

/** As `workInEach`, for sandboxes that are named. Reads each once. */
export async function workInNamed(
  platform: Pick<Platform, 'service' | 'temporal' | 'config'>,
  ids: readonly string[],
): Promise<WorkBySandbox> {
  const gate = createConcurrencyLimit(askedAtOnce);
  const read = async (id: string): Promise<Looked | 'unknown'> => {
    try {
      return (await platform.service.getSandbox(id, { timeoutMs: answerWithinMs })).sandbox;
    } catch (error) {
      return error instanceof ApiError && error.meaning === 'permanent' ? { id } : 'unknown';
    }
  };
  const looked = await Promise.all(ids.map((id) => gate(async () => [id, await read(id)] as const)));
  const work = await workInEach(
    platform,
    looked.flatMap(([, sandbox]) => (sandbox === 'unknown' ? [] : sandbox)),
  );
  return new Map([
    ...work,
    ...looked.flatMap(([id, sandbox]) => (sandbox === 'unknown' ? [[id, sandbox] as const] : [])),
  ]);
}
