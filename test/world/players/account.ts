/** What the players of a world share: the account, Temporal, and people's own sandboxes. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { FaultInput, Inspection } from '../../../local-service/src/index.js';
import { ApiError, type SandboxClient } from '../../../src/client/index.js';
import type { ResultStore } from '../../../src/result-store/index.js';
import type { Tag } from '../../slow/matrix/tagged-client.js';
import type { CallOfWorld } from '../stack/wire.js';

export type Books = { readonly [List in Exclude<keyof Inspection, 'summary'>]: ReturnType<Inspection[List]> };

export interface Account {
  readonly client: Client;
  /** A client of a person: its calls bypass the wire. */
  readonly api: SandboxClient;
  readonly results: ResultStore;
  readonly taskQueue: string;
  readonly deployment: string;
  readonly books: () => Promise<Books>;
  /** An archived sandbox of a person, the source of forks. */
  readonly sourceId: string;
  /** Assigns the calls of a workflow to a job of the plan. */
  readonly watch: (job: string, isOf: (tag: Tag) => boolean) => void;
  /** The calls of all jobs so far. */
  readonly calls: () => readonly CallOfWorld[];
  /** Settings for a command of this job in a terminal. */
  readonly terminal: (job: string) => Readonly<Record<string, string>>;
  /** A folder outside of all sandboxes, in which their commands leave notes. */
  readonly notes: string;
  /** Arms a fault of the service. */
  readonly arm: (fault: FaultInput) => Promise<void>;
  readonly signal: AbortSignal;
}

/** The agent runs the commands between the marks. */
export const script = (commands: string) => `\`\`\`sh\n${commands}\n\`\`\``;

/** Short, so that a lost event costs seconds. */
export const timing = {
  safetyPollFirstMs: 700,
  safetyPollGrowth: 1.5,
  safetyPollMaxMs: 3_000,
  errorGraceMs: 4_000,
  readLagMs: 3_000,
  cleanUpMs: 10_000,
  commandSilenceMs: 15_000,
};

/** Repeats what a person repeats: Temporal or the service may be away for a while. */
export async function persist<T>(signal: AbortSignal, what: () => Promise<T>, lastsMs = 60_000): Promise<T> {
  const untilMs = Date.now() + lastsMs;
  for (;;) {
    signal.throwIfAborted();
    try {
      return await what();
    } catch (error) {
      if (Date.now() > untilMs || !isAway(error)) throw error;
      await sleep(300, undefined, { signal });
    }
  }
}

/** True for an error of a connection, not of an answer. */
function isAway(error: unknown): boolean {
  const away =
    /UNAVAILABLE|ECONNREFUSED|ECONNRESET|socket|closed|connect|DEADLINE_EXCEEDED|timed? ?out|Failed to query|no_worker|not available|Unexpected error/i;
  for (let at = error; at instanceof Error; at = at.cause) {
    if (away.test(`${at.name} ${at.message} ${'code' in at ? at.code : ''} ${'details' in at ? at.details : ''}`)) {
      return true;
    }
  }
  return false;
}

/** A machine that did not start. */
class FailedMachine extends Error {}

/** @throws FailedMachine if the sandbox does not become ready */
export async function untilState(account: Pick<Account, 'api' | 'signal'>, sandboxId: string, state: string) {
  for (;;) {
    const { sandbox } = await persist(account.signal, () => account.api.getSandbox(sandboxId));
    if (sandbox.state === state) return;
    if (state === 'ready' && (sandbox.state === 'cancelled' || sandbox.state === 'error')) {
      throw new FailedMachine(`The sandbox ${sandboxId} is ${sandbox.state}: ${sandbox.error}`);
    }
    await sleep(100, undefined, { signal: account.signal });
  }
}

/** A ready sandbox of a person, who makes another one if the service fails this one: it may be told to fail one. */
export async function madeByPerson(
  account: Pick<Account, 'api' | 'signal'>,
  name: string,
  ttlSeconds: number | null = null,
): Promise<string> {
  for (let triesLeft = 3; ; triesLeft -= 1) {
    try {
      const { sandbox } = await persist(account.signal, () => account.api.createSandbox({ name, ttlSeconds }));
      await untilState(account, sandbox.id, 'ready');
      return sandbox.id;
    } catch (error) {
      const isOfService = error instanceof FailedMachine || (error instanceof ApiError && error.code === 'http_500');
      if (triesLeft === 0 || !isOfService) throw error;
    }
  }
}

/** An archived sandbox of a person. */
export async function archivedByPerson(
  account: Pick<Account, 'api' | 'signal'>,
  name: string,
  seed = 'from the source',
): Promise<string> {
  const sandboxId = await madeByPerson(account, name);
  await account.api.writeFile(sandboxId, { path: 'seed', content: seed });
  await account.api.stopSandbox(sandboxId);
  await untilState(account, sandboxId, 'archived');
  return sandboxId;
}
