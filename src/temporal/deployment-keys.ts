/**
 * Announces the keys of a deployment, so that no process writes data that others cannot read. The announcement is
 * stored in Temporal, which every process reaches. It is the content of a paused schedule that never starts anything: a
 * schedule has no retention and needs no worker. The announcement contains key ids and check values, but no keys. It is
 * not encrypted, because processes without keys read it.
 */
import {
  Client,
  ScheduleAlreadyRunning,
  type ScheduleDescription,
  ScheduleNotFoundError,
  type ScheduleOptions,
} from '@temporalio/client';
import { encryptionScheduleId } from '../addresses/addresses.js';
import type { KeyRing } from '../encryption/index.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { reasonOf } from './errors.js';
import { missingApiOf } from './missing-api.js';
import { lenientClient } from './readable-memos.js';

const defaultTimeoutMs = 5_000;

/** The keys that the workers of a deployment announced. */
export interface DeploymentKeys {
  /** Id of the key with which the most recently started worker encrypts. */
  readonly current: string;
  /**
   * The keys with which the most recently started worker decrypts. Maps the id of each key to a value that
   * distinguishes it from other keys of the same id.
   */
  readonly checks: Readonly<Record<string, string>>;
}

/** Options of `agreeOnKeys`. */
export interface AgreeOptions {
  /** Name of the deployment. */
  readonly deployment: string;
  /** Undefined for a process that has no keys. */
  readonly ring: KeyRing | undefined;
  /**
   * True for workers, which announce the keys that they can decrypt with. Other processes encrypt only with announced
   * keys. Default: false.
   */
  readonly announce?: boolean;
  /** How long Temporal may take to answer, in ms. Default: 5,000. */
  readonly timeoutMs?: number;
}

/** `unasked`: the announced keys could not be read from Temporal, so it is unknown whether the keys match. */
export type Agreement = { readonly kind: 'agreed' } | { readonly kind: 'unasked'; readonly reason: string };

/**
 * Checks at the start of a process that the process and the deployment's workers can read each other's data. Safe to
 * repeat. A deployment has no keys until a worker has announced some.
 * @param client any client; its connection is used without its codec
 * @throws SandflowError `bad_configuration` if the keys do not fit, and `keys_not_announced` if no worker has announced
 *   keys: the process must not continue; `temporal_api_missing`
 * @example
 * const agreement = await agreeOnKeys(client, { deployment, ring, announce: true });
 * if (agreement.kind === 'unasked') throw new Error(agreement.reason);
 */
export async function agreeOnKeys(client: Client, options: AgreeOptions): Promise<Agreement> {
  const { deployment, ring, announce = false, timeoutMs = defaultTimeoutMs } = options;
  const clear = clearClient(client);
  try {
    return await client.withDeadline(Date.now() + timeoutMs, async () => {
      const known = await read(clear, deployment);
      const problem = problemOf(known, options);
      if (problem) throw new SandflowError(known ? 'bad_configuration' : 'keys_not_announced', problem);
      if (announce && ring) await write(clear, deployment, known, keysOf(ring));
      return { kind: 'agreed' };
    });
  } catch (error) {
    const known = error instanceof SandflowError ? error : missingApiOf(error);
    if (known) throw known;
    return { kind: 'unasked', reason: error instanceof Error ? reasonOf(error) : String(error) };
  }
}

/**
 * The keys of the deployment; undefined if no worker has announced any.
 * @example
 * const keys = await deploymentKeys(client, 'default');
 */
export function deploymentKeys(client: Client, deployment: string): Promise<DeploymentKeys | undefined> {
  return read(clearClient(client), deployment);
}

/**
 * Removes the announcement, so that processes without keys can start again. Safe to repeat.
 * @example
 * await forgetDeploymentKeys(client, 'default');
 */
export async function forgetDeploymentKeys(client: Client, deployment: string): Promise<void> {
  try {
    await clearClient(client).schedule.getHandle(encryptionScheduleId(deployment)).delete();
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
  }
}

const mend = 'SANDFLOW_ENCRYPTION_KEYS_FILE names the key file.';

function problemOf(
  known: DeploymentKeys | undefined,
  { deployment, ring, announce }: AgreeOptions,
): string | undefined {
  if (!ring) {
    if (!known) return undefined;
    return `The deployment "${deployment}" encrypts its payloads with the key "${known.current}", and this process has no keys. ${mend}`;
  }
  if (!known) {
    if (announce) return undefined;
    return `No worker of the deployment "${deployment}" has announced its keys: start its workers with these keys first. ${mend}`;
  }
  const { first } = ring;
  const check = known.checks[first.id];
  if (check === undefined) {
    return `The first key of this process, "${first.id}", is not in the key ring of the deployment "${deployment}" (${Object.keys(known.checks).join(', ')}). Keep a new key after the first one until every worker has it. ${mend}`;
  }
  if (check !== first.check) {
    return `The key "${first.id}" of this process is not the key of that id in the deployment "${deployment}". ${mend}`;
  }
  const needed = known.checks[known.current];
  if (needed !== undefined && ring.find(known.current)?.check === needed) return undefined;
  return `The deployment "${deployment}" encrypts with the key "${known.current}", which is not in the key ring of this process. ${mend}`;
}

function keysOf({ first, keys }: KeyRing): DeploymentKeys {
  return { current: first.id, checks: Object.fromEntries(keys.map(({ id, check }) => [id, check])) };
}

async function read(clear: Client, deployment: string): Promise<DeploymentKeys | undefined> {
  try {
    return keysIn(await clear.schedule.getHandle(encryptionScheduleId(deployment)).describe());
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return undefined;
    throw error;
  }
}

async function write(
  clear: Client,
  deployment: string,
  known: DeploymentKeys | undefined,
  keys: DeploymentKeys,
): Promise<void> {
  if (JSON.stringify(known) === JSON.stringify(keys)) return;
  const scheduleId = encryptionScheduleId(deployment);
  const wanted = scheduleOf(scheduleId, keys);
  try {
    if (!known) return void (await clear.schedule.create({ scheduleId, ...wanted }));
  } catch (error) {
    // Another worker started at the same time; the next process to start compares its keys again.
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
  await clear.schedule.getHandle(scheduleId).update(({ state }) => ({ ...wanted, state }));
}

function scheduleOf(workflowId: string, keys: DeploymentKeys): Omit<ScheduleOptions, 'scheduleId'> {
  const note = 'Announces the keys with which a sandflow deployment encrypts. It starts nothing; leave it paused.';
  return {
    spec: {},
    action: { type: 'startWorkflow', workflowType: 'none', workflowId, taskQueue: 'none', args: [keys] },
    state: { paused: true, note },
  };
}

function keysIn({ action }: ScheduleDescription): DeploymentKeys | undefined {
  const [found] = action.args ?? [];
  if (typeof found !== 'object' || found === null || !('current' in found) || !('checks' in found)) return undefined;
  const { current, checks } = found;
  if (typeof current !== 'string' || typeof checks !== 'object' || checks === null) return undefined;
  return { current, checks: { ...(checks as Record<string, string>) } };
}

function clearClient({ connection, options: { namespace } }: Client): Client {
  return lenientClient(new Client({ connection, namespace }));
}
