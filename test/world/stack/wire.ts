/** The wire between workers and service: counts calls, and does to them what the plan says. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createFaultProxy,
  type Exchange,
  give,
  type ProxiedCall,
  type Striker,
} from '../../slow/matrix/faults/fault-proxy.js';
import { allFaults } from '../../slow/matrix/faults/faults.js';
import { noPromptIds } from '../../slow/matrix/faults/lens.js';
import type { Tag } from '../../slow/matrix/tagged-client.js';
import type { CallOfJob, CrashTime, Plan, Trouble } from '../plan/plan.js';
import { oddFaults } from './odd-answers.js';
import { createStaleReads } from './stale-reads.js';

type TroubleOf<Kind extends Trouble['kind']> = Extract<Trouble, { readonly kind: Kind }>;
/** Those that come around a call. */
export type AroundCall = TroubleOf<'act'> | TroubleOf<'message'> | TroubleOf<'newcomer'>;
/** Those that come when the world has made so many calls. */
export type AfterCalls = TroubleOf<'death'> | TroubleOf<'hours'> | TroubleOf<'service'>;

export type Crash = TroubleOf<'crash'>;
type CrashAtCall = Extract<Crash, { readonly when: CrashTime }>;

export interface WireEvents {
  /** Awaited: the call waits for it. */
  readonly onCall: (trouble: AroundCall, call: ProxiedCall) => Promise<void>;
  /** Not awaited: a death may be that of the caller. */
  readonly onCount: (trouble: AfterCalls) => void;
  /** Not awaited: the call is made meanwhile. */
  readonly onDeploy: (trouble: TroubleOf<'deploy'>) => void;
  /** Kills at once, before it returns. */
  readonly onCrash: (trouble: Crash, call: ProxiedCall) => void;
}

export interface CallOfWorld {
  /** Key of the job of the plan. */
  readonly job: string;
  readonly call: ProxiedCall;
  /** When it was made, in ms since the epoch. */
  readonly atMs: number;
}

export interface Wire {
  readonly url: string;
  /** Calls of all jobs, in order. */
  readonly calls: readonly CallOfWorld[];
  /** Keys of the troubles that have struck. */
  readonly struck: ReadonlySet<string>;
  /** Assigns the calls of a workflow to a job of the plan. */
  watch(job: string, isOf: (tag: Tag) => boolean): void;
  close(): Promise<void>;
}

const none = { sandbox: '', stop: '', prompt: '', conversation: '', snapshot: '', operation: '' };
const faults = new Map(allFaults(none).map((fault) => [fault.name, fault]));

export async function createWire(serviceUrl: string, plan: Plan, events: WireEvents): Promise<Wire> {
  const proxy = await createFaultProxy(serviceUrl);
  const calls: CallOfWorld[] = [];
  const struck = new Set<string>();
  const counted = plan.troubles.filter((one): one is AfterCalls => 'afterCalls' in one && one.kind !== 'lists');
  const around = plan.troubles.filter(
    (one): one is AroundCall => one.kind === 'act' || one.kind === 'message' || one.kind === 'newcomer',
  );
  const crashes = plan.troubles.filter((one): one is CrashAtCall => one.kind === 'crash' && 'when' in one);
  const deploys = plan.troubles.filter((one): one is TroubleOf<'deploy'> => one.kind === 'deploy');
  const ofWire = plan.troubles.filter((one): one is TroubleOf<'wire'> => one.kind === 'wire');

  /** The numbers of a call: among all calls of its job to the endpoint, and among those of its activity. */
  const numbers = new WeakMap<ProxiedCall, Readonly<Record<string, number>>>();
  const nthOf = (job: string, call: ProxiedCall, at: CallOfJob) =>
    at.job === job && at.endpoint === call.endpoint ? (numbers.get(call)?.[at.activity ?? ''] ?? 0) : 0;
  const stale = createStaleReads(plan, {
    isMet: (job, call, { at }) => nthOf(job, call, at) === at.nth,
    calls: () => calls.length,
    onStrike: ({ key }) => void struck.add(key),
  });
  const odd = oddFaults({ of: stale.otherAnswer });

  function watch(job: string, isOf: (tag: Tag) => boolean): void {
    const counts = new Map<string, number>();
    const count = (what: string) => {
      counts.set(what, (counts.get(what) ?? 0) + 1);
      return counts.get(what) ?? 0;
    };
    const play = async (call: ProxiedCall, when: 'before' | 'after') => {
      for (const one of around) {
        const isNow = one.kind === 'act' ? one.when === when : when === 'before';
        if (!isNow || nthOf(job, call, one.at) !== one.at.nth || struck.has(one.key)) continue;
        struck.add(one.key);
        await events.onCall(one, call);
      }
    };
    proxy.tap({
      isOf,
      keepsAnswers: true,
      lens(of, given) {
        // The proxy gives the whole call.
        const answer = stale.change(job, of as ProxiedCall, given);
        return plan.service.promptIds ? answer : noPromptIds(of, answer);
      },
      async before(call) {
        const { endpoint, activity } = call;
        numbers.set(call, { '': count(endpoint), [activity]: count(`${activity}/${endpoint}`) });
        calls.push({ job, call, atMs: Date.now() });
        for (const one of counted) {
          if (calls.length < one.afterCalls || struck.has(one.key)) continue;
          struck.add(one.key);
          events.onCount(one);
        }
        for (const one of deploys) {
          if (nthOf(job, call, one.at) !== one.at.nth || struck.has(one.key)) continue;
          struck.add(one.key);
          events.onDeploy(one);
        }
        await play(call, 'before');
      },
      after: (call) => play(call, 'after'),
      strikerOf(call) {
        const crash = crashes.find(({ at, key }) => !struck.has(key) && nthOf(job, call, at) === at.nth);
        if (crash) {
          struck.add(crash.key);
          return crashing(crash, () => events.onCrash(crash, call));
        }
        const one = ofWire.find(({ at, times }) => {
          const nth = nthOf(job, call, at);
          return nth >= at.nth && nth < at.nth + times;
        });
        if (!one) return undefined;
        struck.add(one.key);
        return faults.get(one.fault) ?? odd.get(one.fault);
      },
    });
  }

  return { url: proxy.url, calls, struck, watch, close: () => proxy.close() };
}

/** How long after its answer a call is recorded in history, in ms. */
const recordedMs = 40;

function crashing(crash: CrashAtCall, kill: () => void): Striker {
  const strikes: Readonly<Record<CrashTime, (exchange: Exchange) => Promise<void>>> = {
    async before({ forward, response, drop }) {
      kill();
      // Another part than the caller may die: then the caller still gets its answer, if the service lives.
      if (crash.part === 'worker' || crash.part === 'service') drop();
      else give(response, await forward());
    },
    async accepted({ forward, response, drop }) {
      const answer = await forward();
      kill();
      if (crash.part === 'worker') drop();
      else give(response, answer);
    },
    async answered({ forward, response }) {
      give(response, await forward());
      kill();
    },
    async recorded({ forward, response }) {
      give(response, await forward());
      await sleep(recordedMs);
      kill();
    },
  };
  return { name: `crash-${crash.when}`, strike: strikes[crash.when] };
}
