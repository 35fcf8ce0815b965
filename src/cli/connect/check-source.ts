/**
 * Asks the service, before anything is started or stopped, whether the sandbox or the snapshot that the user names
 * exists. An unknown name was refused after 90 s, or after several items had failed.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { CallOptions, SandboxClient } from '../../client/index.js';
import { isMissing } from '../../client/missing.js';
import { SandflowError } from '../../errors/sandflow-error.js';
import type { Notices } from '../output/reporter.js';
import { headLine, oneLine } from '../output/terminal-safe.js';
import { programName } from '../program-name.js';
import { ServiceRefusal } from '../service-refusal.js';
import { plural } from '../units.js';
import type { NamedSource } from './named-source.js';

const timeoutMs = 10_000;
/** A read may lag behind a create. If nothing is found, the read is repeated after these pauses, in ms. */
const usualPausesMs = [1_000, 2_000];
const namesShown = 5;
const missingCodes: ReadonlySet<string> = new Set(['not_found', 'sandbox_not_found']);

export interface CheckSourceOptions {
  readonly service: Pick<SandboxClient, 'getSandbox' | 'listSnapshots'>;
  /** Ctrl-C. */
  readonly signal: AbortSignal;
  readonly notices: Notices;
  /** Pauses between reads of what is not found, in ms. Default: 1 s and 2 s. */
  readonly pausesMs?: readonly number[];
}

/**
 * Makes only one read if the source can be used. If the service does not say whether the source exists, for example
 * after a timeout or without permission, prints a notice: the job or batch checks this again for longer.
 * @throws SandflowError if the service itself says that there is no such sandbox or snapshot, or that its data was
 * deleted; the signal's reason after an abort
 */
export async function checkSource(source: NamedSource, options: CheckSourceOptions): Promise<void> {
  const { service, signal, notices, pausesMs = usualPausesMs } = options;
  for (const pauseMs of [...pausesMs, null]) {
    const seen = await look(source, service, { signal, timeoutMs }).catch((error: unknown): Seen => {
      signal.throwIfAborted();
      return { kind: 'unknown', why: oneLine(error instanceof Error ? error.message : String(error)) };
    });
    if (seen.kind === 'usable') return;
    if (seen.kind === 'unknown') {
      return notices.notice(`It is not known whether ${textOf(source)} exists: ${seen.why}`, 'detail');
    }
    if (seen.kind === 'useless' || pauseMs === null) throw seen.error;
    await sleep(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

type Seen =
  | { readonly kind: 'usable' }
  | { readonly kind: 'unknown'; readonly why: string }
  /** `missing` may come from a read that lags. */
  | { readonly kind: 'missing' | 'useless'; readonly error: SandflowError };

function look(source: NamedSource, service: CheckSourceOptions['service'], call: CallOptions): Promise<Seen> {
  return source.kind === 'sandbox' ? lookAtSandbox(source, service, call) : lookAtSnapshots(source, service, call);
}

function textOf(source: NamedSource): string {
  return source.kind === 'sandbox' ? `the sandbox ${source.sandboxId}` : `the snapshot "${headLine(source.name)}"`;
}

async function lookAtSandbox(
  { sandboxId, use }: Extract<NamedSource, { kind: 'sandbox' }>,
  service: Pick<SandboxClient, 'getSandbox'>,
  call: CallOptions,
): Promise<Seen> {
  try {
    const { state, dataExpiredAt } = (await service.getSandbox(sandboxId, call)).sandbox;
    if (use === 'stop') return { kind: 'usable' };
    if (state === 'cancelled') {
      const message = `The sandbox ${sandboxId} was never created: the service found no machine for it. Nothing was started. Choose another sandbox.`;
      return { kind: 'useless', error: new ServiceRefusal('sandbox_not_found', message, false, undefined) };
    }
    if (dataExpiredAt == null || (use === 'work' && state !== 'archived')) return { kind: 'usable' };
    const message = `The sandbox ${sandboxId} has no data: the service deleted it on ${oneLine(dataExpiredAt)}, 14 days after its stop. Nothing was started. Choose another sandbox.`;
    return { kind: 'useless', error: new ServiceRefusal('snapshot_data_expired', message, false, undefined) };
  } catch (error) {
    if (!isMissing(error) || !missingCodes.has(error.code)) throw error;
    const nothing = use === 'stop' ? 'It was not stopped' : 'Nothing was started';
    const message = `There is no sandbox ${sandboxId}, or this key may not see it. ${nothing}. Check the id with \`${programName} sandboxes\`. A sandbox that was created in the last two minutes may not be visible yet: try again later, or add --no-check.`;
    return { kind: 'missing', error: new ServiceRefusal('sandbox_not_found', message, false, error) };
  }
}

/**
 * No endpoint reads a snapshot by its name, so the list is searched. If the list is incomplete, or if no row has a
 * name, this proves nothing.
 */
async function lookAtSnapshots(
  { name }: Extract<NamedSource, { kind: 'snapshot' }>,
  service: Pick<SandboxClient, 'listSnapshots'>,
  call: CallOptions,
): Promise<Seen> {
  let rowsLeftOut = 0;
  const { snapshots } = await service.listSnapshots({ ...call, onRowsLeftOut: (rows) => (rowsLeftOut = rows) });
  const found = snapshots.find((snapshot) => snapshot.name === name || snapshot.id === name);
  if (found) return { kind: 'usable' };
  if (rowsLeftOut > 0) return { kind: 'unknown', why: 'the list of snapshots is incomplete' };
  if (snapshots.length > 0 && snapshots.every((snapshot) => snapshot.name === undefined)) {
    return { kind: 'unknown', why: 'the list of snapshots shows no names' };
  }
  const names = snapshots.flatMap((snapshot) => (snapshot.name ? [`"${headLine(snapshot.name)}"`] : []));
  const more = names.length > namesShown ? `, and ${names.length - namesShown} more` : '';
  const known = names.length === 0 ? 'none has a name' : `named ${names.slice(0, namesShown).join(', ')}${more}`;
  const listed =
    snapshots.length === 0
      ? 'The service lists no snapshots'
      : `The service lists ${plural(snapshots.length, 'snapshot')}, ${known}`;
  const message = `There is no snapshot named "${headLine(name)}", its data was deleted, or this key may not see it. ${listed}. Nothing was started. Check the name with \`${programName} api GET /snapshots\`. A snapshot of the last two minutes may not be listed yet: try again later, or add --no-check.`;
  return { kind: 'missing', error: new SandflowError('snapshot_not_found', message) };
}
