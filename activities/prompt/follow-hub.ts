/**
 * Reads the sandboxes of all follows of a worker process, with as few calls as possible. The loop runs only while a
 * follow waits.
 *
 *     usually ─► one `GET /sandboxes` per interval, for all of them
 *     far more sandboxes on the account than follows ─► one `GET /sandboxes/{id}` for each of them
 *
 * None of these reads alone ends a follow. If they keep failing, hang, or omit a sandbox, a follow reads its sandbox by
 * itself. It does so at growing intervals, and all follows share one rate limit.
 */
import type { CallOptions, SandboxClient } from '../../src/client/index.js';
import type { Sandbox } from '../../src/contract/records/sandbox-records.js';
import { describeFailure } from '../retry/classify.js';

export interface FollowHubOptions {
  /** Interval between reads while a new follow waits, in ms. Default: 500. */
  readonly minIntervalMs?: number;
  /** Interval between reads if all follows have waited for long, in ms. Default: 10 000. */
  readonly maxIntervalMs?: number;
}

/** A sandbox as a shared read shows it. */
export interface SharedRead {
  readonly sandbox: Sandbox;
  /** When the read began, in ms since the epoch. */
  readonly atMs: number;
}

export interface FollowHub {
  /**
   * Waits for the next read that starts after this call. Also returns when this follow may read by itself. Does not fail
   * if a read fails.
   * @returns undefined if no read shows the sandbox. This proves nothing (trap S13), so the follow must read by itself
   * @throws the signal's reason
   */
  next(
    sandboxId: string,
    options: {
      /** When the follow started, in ms since the epoch. Older follows need a read less often. */
      readonly followedSinceMs: number;
      /** When it last read by itself, in ms since the epoch; 0 for never. */
      readonly lookedAtMs: number;
      readonly signal: AbortSignal;
    },
  ): Promise<SharedRead | undefined>;

  /**
   * Calls `onRead` with each read of these sandboxes, as `next` returns it, until it returns false for all of them or the
   * signal is aborted. The first read is due at once, unless this process has just read. Ends when the calls of `onRead`
   * have ended. Holds no promise for a sandbox between two reads.
   */
  watch<One extends Watched>(
    watched: readonly One[],
    options: {
      readonly onRead: (one: One, read: SharedRead | undefined) => Promise<boolean>;
      readonly signal: AbortSignal;
    },
  ): Promise<void>;
}

/** A sandbox to watch. */
export interface Watched {
  readonly sandboxId: string;
  /** When the follow began, in ms since the epoch. */
  readonly sinceMs: number;
}

interface Waiter {
  readonly sandboxId: string;
  readonly sinceMs: number;
  readonly intervalMs: number;
  /** When the follow may read by itself, in ms since the epoch. */
  readonly lookDueMs: number;
  /** True if the last read did not show its sandbox. */
  isMissing: boolean;
  /** When a read of its sandbox alone began, in ms since the epoch; undefined if none is under way. */
  readSinceMs: number | undefined;
  readonly resolve: (read?: SharedRead) => void;
}

/** The interval between two reads for a follow, as a fraction of the follow's age. */
const ageShare = 1 / 20;
/**
 * The interval between a follow's own reads, as a fraction of its age: twice that of the shared reads, at most 30 s.
 */
const lookAgeShare = 1 / 10;
const rarestLookMs = 30_000;
/**
 * Interval between the own reads of all follows, in ms. One read is usually two calls, so 1,000 follows make 8 calls a
 * second, and each follow reads every 4 minutes.
 */
const everyMs = 250;
/** Interval between reads of single sandboxes, in ms: each is one call, so they make as many calls as own reads. */
const singleEveryMs = 125;
/**
 * The service spends about as much on this many rows of a list as on a read of one sandbox. So a follow never costs more
 * than one read, however many archived sandboxes the account has.
 */
const rowsPerRead = 100;
/** How long the length of a list is believed, in ms. */
const rowsHoldMs = 3_600_000;
/** Longest interval between reads of a failing list. */
const rarestListMs = 60_000;
/** After this many consecutive failures of the list, or this many ms without its answer, follows read by themselves. */
const silentAfterFailures = 2;
const silentAfterMs = 5_000;

/** Number of reads allowed in a burst after a quiet period. */
const burst = 8;

/** A limit of one read per `everyMs`, in ms, in this process. */
function createReadLimit(everyMs: number) {
  let spentUntilMs = 0;
  return {
    /** When the next read is allowed, in ms since the epoch. */
    nextMs: () => spentUntilMs - (burst - 1) * everyMs,
    spend() {
      spentUntilMs = Math.max(Date.now(), spentUntilMs) + everyMs;
    },
  };
}

const hubs = new WeakMap<SandboxClient, FollowHub>();

/** The hub of all follows with this client: those of all task queues share their reads. */
export function followHubOf(client: SandboxClient, options?: FollowHubOptions): FollowHub {
  const hub = hubs.get(client) ?? createFollowHub(client, options);
  hubs.set(client, hub);
  return hub;
}

export function createFollowHub(client: SandboxClient, options: FollowHubOptions = {}): FollowHub {
  const { minIntervalMs = 500, maxIntervalMs = 10_000 } = options;
  const waiters = new Set<Waiter>();
  const budget = createReadLimit(everyMs);
  const singleBudget = createReadLimit(singleEveryMs);
  let running = false;
  let wake: AbortController | undefined;
  let failures = 0;
  let listing = false;
  // The loop ends when no follow waits. These variables are kept, so that the next follow does not cause an immediate
  // read.
  let lastTickMs = 0;
  let notBeforeMs = 0;
  let listNotBeforeMs = 0;
  let failedAtMs = 0;
  let rows = 0;

  const readsSingly = () => rows > rowsPerRead * waiters.size && Date.now() < lastTickMs + rowsHoldMs;

  /** When a follow needs the next read, if reads are `2 ** failures` times rarer. */
  function dueMs({ sinceMs, intervalMs }: Waiter, readAtMs: number): number {
    if (failures === 0) return Math.max(sinceMs, readAtMs) + intervalMs;
    return readAtMs + Math.min(Math.max(rarestListMs, maxIntervalMs), intervalMs * 2 ** Math.min(failures, 10));
  }

  function tickDueMs(): number {
    return Math.max(notBeforeMs, listNotBeforeMs, Math.min(...[...waiters].map((waiter) => dueMs(waiter, lastTickMs))));
  }

  function hasFailed(error: unknown): void {
    failedAtMs = Date.now();
    notBeforeMs = Date.now() + (describeFailure(error)?.retryAfterMs ?? 0);
  }

  async function tick(): Promise<void> {
    listing = true;
    lastTickMs = Date.now();
    const served = [...waiters];
    const followed = new Set(served.map(({ sandboxId }) => sandboxId));
    const shown = new Set<string>();
    const isWanted = (sandboxId: string) => {
      shown.add(sandboxId);
      return followed.has(sandboxId);
    };
    try {
      const sandboxes = await client.listAllSandboxes({}, { isWanted });
      const byId = new Map(sandboxes.map((sandbox) => [sandbox.id, sandbox]));
      failures = 0;
      rows = Math.max(shown.size, byId.size);
      // A list that takes long is not asked for without a pause.
      listNotBeforeMs = 2 * Date.now() - lastTickMs;
      for (const waiter of served) {
        const sandbox = byId.get(waiter.sandboxId);
        if (sandbox) waiter.resolve({ sandbox, atMs: lastTickMs });
        else waiter.isMissing = true;
      }
    } catch (error) {
      // An error of the list ends no follow.
      failures += 1;
      hasFailed(error);
    } finally {
      listing = false;
      wake?.abort();
    }
  }

  async function readOne(waiter: Waiter): Promise<void> {
    waiter.readSinceMs = Date.now();
    try {
      waiter.resolve(await readSingle(client, waiter.sandboxId));
    } catch (error) {
      waiter.isMissing = true;
      hasFailed(error);
    } finally {
      waiter.readSinceMs = undefined;
      wake?.abort();
    }
  }

  /** Reads the sandboxes that are due, each alone. @returns when the next one is due */
  function readDue(): number {
    const unread = [...waiters].filter(({ readSinceMs, isMissing }) => readSinceMs === undefined && !isMissing);
    const due = ({ sinceMs, intervalMs }: Waiter) => sinceMs + intervalMs;
    for (const waiter of unread.sort((a, b) => due(a) - due(b))) {
      const atMs = Math.max(notBeforeMs, due(waiter), singleBudget.nextMs());
      if (atMs > Date.now()) return atMs;
      singleBudget.spend();
      void readOne(waiter);
    }
    return Infinity;
  }

  /** Reads what is due. @returns when the next read is due */
  function readShared(): number {
    if (readsSingly()) return readDue();
    if (!listing && tickDueMs() <= Date.now()) void tick();
    return listing ? Infinity : tickDueMs();
  }

  /**
   * Since when follows must do without the list, or without the reads of single sandboxes, in ms since the epoch. A pause
   * that the service requests of these keeps no follow from its own read.
   */
  function sharedIsSilentSinceMs(): number {
    if (!readsSingly()) {
      if (failures >= silentAfterFailures) return 0;
      if (listing) return lastTickMs + silentAfterMs;
    }
    return notBeforeMs > Date.now() ? failedAtMs + silentAfterMs : Infinity;
  }

  /** Wakes the follows that may now read by themselves. @returns when the next follow may do so */
  function giveTurns(): number {
    const silentSinceMs = sharedIsSilentSinceMs();
    const silentSince = ({ isMissing, readSinceMs }: Waiter) =>
      isMissing ? 0 : readSinceMs === undefined ? silentSinceMs : readSinceMs + silentAfterMs;
    const turnOf = (waiter: Waiter) => Math.max(waiter.lookDueMs, silentSince(waiter));
    const waiting = [...waiters].filter((waiter) => turnOf(waiter) < Infinity);
    for (const waiter of waiting.sort((a, b) => turnOf(a) - turnOf(b))) {
      const atMs = Math.max(turnOf(waiter), budget.nextMs());
      if (atMs > Date.now()) return atMs;
      budget.spend();
      waiter.resolve();
    }
    return Infinity;
  }

  async function run(): Promise<void> {
    while (waiters.size > 0) {
      wake = new AbortController();
      const readMs = readShared();
      const turnMs = giveTurns();
      if (waiters.size === 0) break;
      // A new follow may arrive, or the last one may leave. Both change the time of the next read.
      await pause(Math.min(readMs, turnMs) - Date.now(), wake.signal);
    }
    running = false;
  }

  /**
   * Adds a waiter until its next read.
   * @param earlier when its last read was, and its last own one, in ms since the epoch
   * @returns a function that removes it
   */
  function wait(
    { sandboxId, sinceMs }: Watched,
    { readAtMs, lookedAtMs }: { readonly readAtMs: number; readonly lookedAtMs: number },
    onRead: (read?: SharedRead) => void,
  ): () => void {
    const ageMs = Date.now() - sinceMs;
    const waiter: Waiter = {
      sandboxId,
      sinceMs: readAtMs,
      intervalMs: Math.max(minIntervalMs, Math.min(maxIntervalMs, ageMs * ageShare)),
      lookDueMs: lookedAtMs + Math.max(2 * minIntervalMs, Math.min(rarestLookMs, ageMs * lookAgeShare)),
      isMissing: false,
      readSinceMs: undefined,
      resolve(read) {
        if (waiters.delete(waiter)) onRead(read);
      },
    };
    waiters.add(waiter);
    wake?.abort();
    if (!running) {
      running = true;
      void run();
    }
    return () => {
      waiters.delete(waiter);
      wake?.abort();
    };
  }

  return {
    next(sandboxId, { followedSinceMs, lookedAtMs, signal }) {
      return new Promise<SharedRead | undefined>((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const onAbort = () => {
          leave();
          reject(signal.reason);
        };
        const earlier = { readAtMs: Date.now(), lookedAtMs };
        const leave = wait({ sandboxId, sinceMs: followedSinceMs }, earlier, (read) => {
          signal.removeEventListener('abort', onAbort);
          resolve(read);
        });
        signal.addEventListener('abort', onAbort);
      });
    },

    async watch(watched, { onRead, signal }) {
      const waits = new Map<Watched, () => void>();
      const underWay = new Set<Promise<void>>();
      await new Promise<void>((resolve) => {
        const watchOne = (one: (typeof watched)[number], readAtMs: number, lookedAtMs: number) => {
          const look = async (read?: SharedRead) => {
            const goesOn = await onRead(one, read);
            if (goesOn && !signal.aborted) watchOne(one, Date.now(), read ? lookedAtMs : Date.now());
          };
          const onShown = (read?: SharedRead) => {
            waits.delete(one);
            const looking = look(read).finally(() => {
              underWay.delete(looking);
              if (waits.size + underWay.size === 0) resolve();
            });
            underWay.add(looking);
          };
          waits.set(one, wait(one, { readAtMs, lookedAtMs }, onShown));
        };
        if (signal.aborted || watched.length === 0) return resolve();
        signal.addEventListener('abort', () => resolve(), { once: true });
        // Reads of single sandboxes may not come to all before the signal: so each watch begins with others.
        const first = Math.floor(Math.random() * watched.length);
        for (const one of [...watched.slice(first), ...watched.slice(0, first)]) watchOne(one, 0, 0);
      });
      for (const leave of waits.values()) leave();
      await Promise.allSettled(underWay);
    },
  };
}

/** Reads one sandbox now, for no other follow. */
export async function readSingle(client: SandboxClient, sandboxId: string, options?: CallOptions): Promise<SharedRead> {
  const atMs = Date.now();
  const { sandbox } = await client.getSandbox(sandboxId, options);
  return { sandbox, atMs };
}

/**
 * One follow of a sandbox. It tracks when it last read by itself.
 * @param followedSinceMs when the follow began, in ms since the epoch. Default: now
 */
export function createFollower(hub: FollowHub, sandboxId: string, followedSinceMs = Date.now()) {
  let lookedAtMs = 0;
  return {
    /** Like `FollowHub.next`. */
    async next(signal: AbortSignal): Promise<SharedRead | undefined> {
      const read = await hub.next(sandboxId, { followedSinceMs, lookedAtMs, signal });
      if (!read) lookedAtMs = Date.now();
      return read;
    },
    /** Waits as long as a follow of this age waits between two reads of its own. */
    async pause(signal: AbortSignal): Promise<void> {
      const ageMs = Date.now() - followedSinceMs;
      await pause(Math.max(250, Math.min(rarestLookMs, ageMs * lookAgeShare)), signal);
    },
  };
}

/** Resolves after `ms`, which may be infinite, or when the signal is aborted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted || ms <= 0) return resolve();
    const finish = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const timer = Number.isFinite(ms) ? setTimeout(finish, ms) : undefined;
    signal.addEventListener('abort', finish);
  });
}
