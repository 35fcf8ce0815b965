/** The wire between workers and service: counts calls, and does to them what the plan says. */
import { createFaultProxy, type ProxiedCall } from '../../matrix/faults/fault-proxy.js';
import { allFaults } from '../../matrix/faults/faults.js';
import { noPromptIds } from '../../matrix/faults/lens.js';
import type { Tag } from '../../matrix/tagged-client.js';
import type { CallOfJob, Plan, Trouble } from '../plan/plan.js';
import { oddFaults } from './odd-answers.js';
import { createStaleReads } from './stale-reads.js';

type TroubleOf<Kind extends Trouble['kind']> = Extract<Trouble, { readonly kind: Kind }>;
/** Those that come around a call. */
export type AroundCall = TroubleOf<'act'> | TroubleOf<'message'> | TroubleOf<'newcomer'>;
/** Those that come when the world has made so many calls. */
export type AfterCalls = TroubleOf<'death'> | TroubleOf<'hours'> | TroubleOf<'service'>;

export interface WireEvents {
  /** Awaited: the call waits for it. */
  readonly onCall: (trouble: AroundCall, call: ProxiedCall) => Promise<void>;
  /** Not awaited: a death may be that of the caller. */
  readonly onCount: (trouble: AfterCalls) => void;
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
        await play(call, 'before');
      },
      after: (call) => play(call, 'after'),
      strikerOf(call) {
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
