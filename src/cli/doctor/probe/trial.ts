/**
 * What the probes of a run share: the calls, and the sandboxes that they make. A record is written before and after each
 * create. So whatever ends a run, it or the next one deletes what it made, and nothing else.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Query } from '../../../client/call-options.js';
import { createCaller } from '../../../client/caller.js';
import { ApiError, ConnectionError } from '../../../client/index.js';
import { isMissing } from '../../../client/missing.js';
import { bodyIn, idempotencyKeyIn } from '../../../client/request-form.js';
import type { Config } from '../../../config.js';
import { type Endpoint, type EndpointName, endpoints, type ResponseOf } from '../../../contract/endpoints/endpoints.js';
import type { Prompt, Sandbox } from '../../../contract/records/sandbox-records.js';
import { ownHeaderPrefix, type RequestForm } from '../../../contract/request-form.js';
import { apiKeyOf } from '../../../os/key-file.js';
import { readJsonFile, writePrivateFile } from '../../../os/private-file.js';
import { requestedPauseMs } from '../../connect/back-off.js';
import type { ServiceAtHand } from '../../connect/with-service.js';

/** An assumption does not hold. `variant`: how, as the deviations of the local service call it. */
export class Refuted extends Error {
  constructor(
    why: string,
    readonly variant = '',
  ) {
    super(why);
  }
}
/** Nothing can be said of an assumption. */
export class NotTried extends Error {}

/** True for the service's own answer about the request. Others are about the key, the account, a proxy or a failure. */
export const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.typed && error.status < 429 && ![401, 402, 403].includes(error.status);

const isRefusedAtFirst = (error: unknown) =>
  (error instanceof ConnectionError && !error.requestSent) ||
  (error instanceof ApiError && error.typed && error.status < 500 && error.code !== 'idempotency_in_progress');

export interface Finding {
  /** Of an assumption, or `clock`, `key` or `delivery`. */
  readonly id: string;
  readonly verdict: 'confirmed' | 'refuted' | 'not tried';
  /** Why, or what was measured; may be empty. */
  readonly why: string;
  /** What follows from a refutation. */
  readonly follows?: string | undefined;
  /** Endpoint, status, and the id of a request that failed. */
  readonly requests: readonly string[];
}

/** A create or a fork. `at` is in ms since the epoch; `body` and `key` are as they were sent. */
interface Attempt {
  readonly key: string;
  readonly body: { readonly name?: string };
  readonly from: string | undefined;
  readonly at: number;
  id?: string | null;
}

interface Made {
  readonly at: number;
  isAccepted?: boolean;
  operationId?: string | undefined;
  isStopped?: boolean;
  isGone?: boolean;
}

/** A key names what it made for a day (specification, "Idempotency"). */
const keyLastsMs = 86_400_000;
/** Where keys are not honoured, each repeat makes a sandbox. */
const repeatsAtMost = 10;

/** `--assume` of the local service takes the file. */
export interface ProbeRecord {
  readonly startedAt: string;
  /** The assumptions that were refuted. */
  readonly deviations: string[];
  /** What the service needs. */
  settings: Readonly<Record<string, string>>;
  readonly findings: Finding[];
  /** Creates and forks. `id` is undefined while the outcome is unknown, and null if it was refused. */
  readonly attempts: Attempt[];
  readonly sandboxes: Record<string, Made>;
}

/** Begins a record with what the earlier run has not proven to be gone. */
export async function beginRecord(path: string): Promise<ProbeRecord> {
  const { attempts = [], sandboxes = {} } = ((await readJsonFile(path)) ?? {}) as Partial<ProbeRecord>;
  return {
    ...{ startedAt: new Date().toISOString(), deviations: [], settings: {}, findings: [] },
    attempts: attempts.filter(({ id }) => id === undefined),
    sandboxes: Object.fromEntries(Object.entries(sandboxes).filter(([, { isGone }]) => !isGone)),
  };
}

type Ids = 'sandboxId' | 'promptId' | 'stopId' | 'operationId' | 'confirmDelete' | 'key';
type Parts = { readonly [Id in Ids]?: string | undefined } & {
  readonly query?: Query;
  readonly body?: object;
  readonly onRowsLeftOut?: (rows: number) => void;
};

/** What the probes leave to each other. */
interface Found {
  source?: Sandbox;
  forked?: Sandbox;
  prompt?: ResponseOf<'sendPrompt'>;
  model?: string | undefined;
  record?: Prompt;
  /** Of the create of the source. */
  key?: string;
  hasRun?: true;
  stopId?: string | undefined;
  deleted?: ResponseOf<'deleteSandbox'>;
}

export type Trial = ReturnType<typeof createTrial>;

interface Given extends ServiceAtHand {
  readonly to: NonNullable<Config['sandboxService']>;
  /** Of the account; null if the key may not read it. */
  readonly login: string | null;
  readonly record: ProbeRecord;
  readonly path: string;
  /** Ends the probes. A create and what deletes go on: the answer to a create has the id of what it made. */
  readonly signal: AbortSignal;
  /** How long a read may lag, and a 404 proves nothing, in ms. */
  readonly lagMs: number;
}

export function createTrial(given: Given) {
  const { to, record, path, signal, lagMs } = given;
  const { attempts, sandboxes } = record;
  /** No other run has it. */
  const name = `sandflow-probe-${randomBytes(6).toString('hex')}`;
  const form: RequestForm = { ...to };
  const found: Found = {};
  const lines: string[] = [];
  const granted = new Set<string>();
  const never = new AbortController().signal;

  const open = () =>
    createCaller({
      // A create is repeated as it was sent, whatever the form of this run.
      ...{ headerPrefix: form.headerPrefix, baseUrl: to.apiUrl, allowHttp: true, apiKey: () => apiKeyOf(to) },
      onCall({ endpoint, status, errorCode, requestId }) {
        lines.push([endpoint, status ?? 'no answer', requestId].filter(Boolean).join(' '));
        if (errorCode === null) granted.add((endpoints as Readonly<Record<string, Endpoint>>)[endpoint]?.scope ?? '');
      },
    });
  const callers = [open()];

  /** Makes further calls in this form. */
  function use(change: RequestForm): void {
    Object.assign(form, change);
    callers.unshift(open());
  }

  /** The sandbox is by default the source. @throws NotTried without one, and what the client throws */
  async function ask<Name extends EndpointName>(endpoint: Name, parts: Parts = {}, ends = signal) {
    const { key, onRowsLeftOut, ...sent } = { sandboxId: found.source?.id, ...parts };
    if (!sent.sandboxId && endpoints[endpoint].path.includes('{sandboxId}')) throw new NotTried('there is no sandbox');
    const options = { signal: ends, idempotencyKey: key ?? '', onRowsLeftOut: onRowsLeftOut ?? (() => {}) };
    const make = () => callers[0]?.call(endpoint as never, sent as never, options) as Promise<ResponseOf<Name>>;
    return make().catch(async (error: unknown) => {
      if (!(error instanceof ApiError) || error.status !== 429) throw error;
      await sleep(Math.min(30_000, requestedPauseMs(error) || 2_000), undefined, { signal: ends });
      return make();
    });
  }
  /** Like `ask`. While reads may lag, a 404 of a sandbox is no answer. */
  async function askUntilShown<Name extends EndpointName>(endpoint: Name, parts: Parts = {}) {
    for (;;) {
      try {
        return await ask(endpoint, parts);
      } catch (error) {
        const made = sandboxes[parts.sandboxId ?? found.source?.id ?? ''];
        const mayLag = made !== undefined && !made.isAccepted && Date.now() - made.at < lagMs;
        if (!isMissing(error) || !mayLag) throw error;
        await sleep(Math.min(1_000, lagMs / 4), undefined, { signal });
      }
    }
  }
  const call = <Name extends EndpointName>(endpoint: Name, parts: Parts = {}) => ask(endpoint, parts, never);
  const save = () => writePrivateFile(path, `${JSON.stringify(record, undefined, 2)}\n`);
  const note = (id: string) => Object.assign(sandboxes, { [id]: sandboxes[id] ?? { at: Date.now() } });

  /** @param provesNothing tells whether a failure proves that nothing was made. Default: of a first call, any refusal */
  async function send(one: Attempt, provesNothing = isRefusedAtFirst): Promise<ResponseOf<'forkSandbox'>> {
    const { key, body, from } = one;
    try {
      const made = await call(from ? 'forkSandbox' : 'createSandbox', { key, body, sandboxId: from });
      one.id = made.sandbox.id;
      note(one.id);
      return made;
    } catch (error) {
      if (provesNothing(error)) one.id = null;
      throw error;
    } finally {
      await save();
    }
  }

  /** Deletes with the header that the service names, if it refuses ours. */
  async function remove(id: string): Promise<ResponseOf<'deleteSandbox'>> {
    try {
      const answer = await call('deleteSandbox', { sandboxId: id, confirmDelete: id });
      Object.assign(sandboxes[id] ?? {}, { isAccepted: true, operationId: answer.operationId });
      await save();
      return answer;
    } catch (error) {
      const refused = isRefusal(error) ? error.message : '';
      const named = /([a-z][a-z0-9-]{0,40}-)confirm-delete\b/i.exec(refused)?.[1]?.toLowerCase();
      if (named === undefined || named === (form.headerPrefix ?? ownHeaderPrefix)) throw error;
      use({ headerPrefix: named });
      return remove(id);
    }
  }

  /** One step to the end of a sandbox. @returns true once it is proven */
  async function isGone(sandboxId: string, made: Made): Promise<boolean> {
    try {
      if (!made.isAccepted) await remove(sandboxId);
      const { operationId } = made;
      const read = operationId ? call('getDeletionOperation', { operationId }).catch(() => undefined) : undefined;
      if ((await read)?.operation?.status === 'completed') return true;
      await call('getSandbox', { sandboxId });
      return false;
    } catch (error) {
      if (isMissing(error)) return made.isAccepted === true || Date.now() - made.at >= lagMs;
      const isRefused = error instanceof ApiError && error.status < 500 && error.status !== 429;
      // What cannot be deleted shall at least not run.
      if (isRefused && !made.isAccepted && !made.isStopped) {
        await call('stopSandbox', { sandboxId });
        made.isStopped = true;
      }
      return false;
    }
  }

  /** Notes what has the name of a create: a lost answer, or a key that is not honoured. @returns false if it cannot tell */
  async function look(): Promise<boolean> {
    const names = new Set(attempts.flatMap(({ body }) => body.name ?? []));
    try {
      for (const row of (await call('listSandboxes')).sandboxes) if (names.has(row.name ?? '')) note(row.id);
      return true;
    } catch {
      return false;
    }
  }

  const repeats = new Map<Attempt, number>();
  const mayRepeat = (one: Attempt) => (repeats.get(one) ?? 0) < repeatsAtMost && Date.now() - one.at < keyLastsMs;

  /** The same key names what a lost create made. */
  async function find(lost: Attempt, isListed: boolean): Promise<void> {
    if (isListed && Date.now() - lost.at >= keyLastsMs) lost.id = null;
    if (!mayRepeat(lost)) return;
    repeats.set(lost, (repeats.get(lost) ?? 0) + 1);
    const isSettled = isListed && Date.now() - lost.at >= lagMs;
    await send(lost, (error) => isSettled && isRefusal(error) && isRefusedAtFirst(error)).catch(() => undefined);
  }

  /** @returns the last read, which shows what is waited for unless the time was over */
  async function until<T>(mostMs: number, read: () => Promise<T>, is: (seen: T) => boolean, ends = signal): Promise<T> {
    const endsAt = Date.now() + mostMs;
    for (let pauseMs = 100; ; pauseMs = Math.min(2_000, pauseMs * 1.5)) {
      const seen = await read();
      if (is(seen) || Date.now() >= endsAt) return seen;
      await sleep(Math.min(pauseMs, endsAt - Date.now()), undefined, { signal: ends });
    }
  }

  return {
    ...{ ...given, name, form, found, lines, granted, ask: askUntilShown, use, remove, until },
    /** Creates a sandbox or, of a source, a fork. @throws NotTried if there are two sandboxes already */
    async create(key: string, body: object, from?: string): Promise<ResponseOf<'forkSandbox'>> {
      signal.throwIfAborted();
      const present = Object.values(sandboxes).filter((made) => !made.isAccepted && !made.isGone);
      if (present.length >= 2) throw new NotTried('there are two sandboxes already');
      const keyed = { key: idempotencyKeyIn(form, `${name}-${key}`), at: Date.now() };
      const sent = { ...keyed, body: bodyIn(form, 'createSandbox', body), from };
      attempts.push(sent);
      await save();
      return send(sent);
    },
    /** @returns what could not be proven to be gone */
    async cleanUp(mostMs: number): Promise<string[]> {
      const lost = () => attempts.filter(({ id }) => id === undefined);
      await until(mostMs, lap, Boolean, never);
      await save();
      const left = Object.keys(sandboxes).filter((id) => !sandboxes[id]?.isGone);
      return [...left, ...lost().map(({ key }) => `what a create with the key ${key} made`)];

      // One step for each, so that what hangs keeps nothing else alive.
      async function lap(): Promise<boolean> {
        const isListed = attempts.length === 0 || (await look());
        for (const one of lost()) await find(one, isListed);
        for (const [id, made] of Object.entries(sandboxes)) {
          // A fork that may be lost is asked for at its source.
          if (made.isGone || lost().some((one) => one.from === id && mayRepeat(one))) continue;
          made.isGone = await isGone(id, made).catch(() => false);
        }
        return lost().length === 0 && Object.values(sandboxes).every((made) => made.isGone);
      }
    },
    close: () => Promise.all(callers.map((caller) => caller.close())),
  };
}
