/**
 * The sandboxes of a probe. A record is written before and after each create. So whatever ends a run, it or the next one
 * deletes what it made, and nothing else.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { readJsonFile, writePrivateFile } from '../../../os/private-file.js';
import type { Finding } from './findings.js';
import { type Call, NotTried, type Seen } from './trial.js';

/** A create or a fork. `id` is undefined while its outcome is unknown, and null if it was refused. */
interface Attempt {
  readonly key: string;
  readonly body: { readonly name?: string };
  readonly from?: string | undefined;
  id?: string | null;
}

interface Made {
  /** ms since the epoch. */
  readonly at: number;
  isAccepted?: boolean;
  operationId?: unknown;
  isGone?: boolean;
}

export interface ProbeRecord {
  readonly version: 1;
  readonly startedAt: string;
  readonly attempts: Attempt[];
  readonly sandboxes: Record<string, Made>;
  readonly findings: Finding[];
}

/** Begins a record with what the earlier run has not proven to be gone. */
export async function beginRecord(path: string): Promise<ProbeRecord> {
  const { attempts = [], sandboxes = {} } = ((await readJsonFile(path)) ?? {}) as Partial<ProbeRecord>;
  return {
    version: 1,
    startedAt: new Date().toISOString(),
    attempts: attempts.filter(({ id }) => id === undefined),
    sandboxes: Object.fromEntries(Object.entries(sandboxes).filter(([, { isGone }]) => !isGone)),
    findings: [],
  };
}

export const saveRecord = (path: string, record: ProbeRecord) =>
  writePrivateFile(path, `${JSON.stringify(record, undefined, 2)}\n`);

interface Tools {
  /** Is not given up at an interruption: the answer to a create has the id of what it made. */
  readonly call: Call;
  readonly save: () => Promise<void>;
  /** How long a 404 proves nothing, in ms. */
  readonly lagMs: number;
  /** Makes further calls with this family of the service's own headers. @returns false if that is the one in use */
  readonly useHeaderPrefix: (prefix: string) => boolean;
}

export function createOwnSandboxes(
  { attempts, sandboxes }: ProbeRecord,
  { call, save, lagMs, useHeaderPrefix }: Tools,
) {
  let headerPrefix: string | undefined;

  function note(id: unknown): void {
    if (typeof id === 'string') sandboxes[id] ??= { at: Date.now() };
  }

  async function send(one: Attempt): Promise<Seen> {
    try {
      const seen = await call(one.from === undefined ? 'createSandbox' : 'forkSandbox', { ...one, id: one.from ?? '' });
      const id = seen.isOk ? seen.of('sandbox.id') : null;
      if (seen.code !== 'idempotency_in_progress') one.id = id as string | null;
      note(id);
      return seen;
    } catch (error) {
      if (error instanceof NotTried && Number(error.cause) < 500) one.id = null;
      throw error;
    } finally {
      await save();
    }
  }

  /** Deletes with the header that the service names, if it refuses ours. */
  async function remove(id: string): Promise<Seen> {
    const seen = await call('deleteSandbox', { id, confirm: true });
    if (seen.isOk) Object.assign(sandboxes[id] ?? {}, { isAccepted: true, operationId: seen.of('operationId') });
    await save();
    const named = /([a-z][a-z0-9-]{0,40}-)confirm-delete\b/i.exec(seen.text)?.[1];
    if (seen.code !== 'confirmation_required' || named === undefined || !useHeaderPrefix(named)) return seen;
    headerPrefix = named;
    return remove(id);
  }

  /** One step to the end of a sandbox. @returns true once it is proven */
  async function isGone(id: string, made: Made): Promise<boolean> {
    const seen = made.isAccepted ? undefined : await remove(id);
    // What cannot be deleted shall at least not run.
    if (seen?.code === 'confirmation_required') await call('stopSandbox', { id });
    if (seen && !seen.isOk) return seen.status === 404 && Date.now() - made.at >= lagMs;
    if ((await call('getSandbox', { id })).status === 404) return true;
    if (typeof made.operationId !== 'string') return false;
    const operation = await call('getDeletionOperation', { id: made.operationId });
    return operation.of('operation.status') === 'completed';
  }

  /** The same key names what a lost create made, and so does the name, which no other run has. */
  async function isFound(lost: Attempt): Promise<boolean> {
    const { name } = lost.body;
    const { rows } = await call('listSandboxes');
    for (const row of rows('sandboxes')) if (name !== undefined && row.name === name) note(row.id);
    await send(lost);
    return lost.id !== undefined;
  }

  return {
    /** @throws NotTried if there are two sandboxes already */
    async create(key: string, body: object, from?: string): Promise<Seen> {
      const open = Object.values(sandboxes).filter((made) => !made.isAccepted && !made.isGone);
      if (open.length >= 2) throw new NotTried('there are two sandboxes already');
      const one: Attempt = { key, body, from };
      attempts.push(one);
      await save();
      return send(one);
    },
    remove,
    /** The prefix that deletes need, if it is not the one that is set. */
    headerPrefix: () => headerPrefix,
    /** @returns what could not be proven to be gone */
    async cleanUp(mostMs: number): Promise<string[]> {
      const endsAt = Date.now() + mostMs;
      const inTime = async (isDone: () => Promise<boolean>): Promise<boolean> => {
        for (;;) {
          if (await isDone().catch(() => false)) return true;
          if (Date.now() >= endsAt) return false;
          await sleep(Math.min(1_000, lagMs));
        }
      };
      const lost = attempts.filter(({ id }) => id === undefined);
      for (const one of lost) await inTime(() => isFound(one));
      for (const [id, made] of Object.entries(sandboxes)) made.isGone ||= await inTime(() => isGone(id, made));
      await save();
      const unknown = lost
        .filter(({ id }) => id === undefined)
        .map(({ key }) => `what a create with the key ${key} made`);
      const left = Object.keys(sandboxes).filter((id) => !sandboxes[id]?.isGone);
      return [...left, ...unknown];
    },
  };
}
