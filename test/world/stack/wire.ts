/** The wire between workers and service: counts calls, and does to them what the plan says. */
import type { EndpointName } from '../../../src/contract/endpoints/endpoints.js';
import { createFaultProxy, type ProxiedCall } from '../../matrix/faults/fault-proxy.js';
import { allFaults } from '../../matrix/faults/faults.js';
import { noPromptIds } from '../../matrix/faults/lens.js';
import type { Tag } from '../../matrix/tagged-client.js';
import type { CallOfJob, Plan, Trouble } from '../plan/plan.js';

type TroubleOf<Kind extends Trouble['kind']> = Extract<Trouble, { readonly kind: Kind }>;
/** Those that come around a call. */
export type AroundCall = TroubleOf<'act'> | TroubleOf<'message'>;
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
  const counted = plan.troubles.filter((one): one is AfterCalls => 'afterCalls' in one);
  const around = plan.troubles.filter((one): one is AroundCall => one.kind === 'act' || one.kind === 'message');
  const ofWire = plan.troubles.filter((one): one is TroubleOf<'wire'> => one.kind === 'wire');

  function watch(job: string, isOf: (tag: Tag) => boolean): void {
    const counts = new Map<EndpointName, number>();
    const nthOf = new WeakMap<ProxiedCall, number>();
    const meet = (call: ProxiedCall, at: CallOfJob) =>
      at.job === job && at.endpoint === call.endpoint && nthOf.get(call) === at.nth;
    const play = async (call: ProxiedCall, when: 'before' | 'after') => {
      for (const one of around) {
        const isNow = one.kind === 'message' ? when === 'before' : one.when === when;
        if (!isNow || !meet(call, one.at) || struck.has(one.key)) continue;
        struck.add(one.key);
        await events.onCall(one, call);
      }
    };
    proxy.tap({
      isOf,
      keepsAnswers: true,
      lens: plan.service.promptIds ? undefined : noPromptIds,
      async before(call) {
        const nth = (counts.get(call.endpoint) ?? 0) + 1;
        counts.set(call.endpoint, nth);
        nthOf.set(call, nth);
        calls.push({ job, call });
        for (const one of counted) {
          if (calls.length < one.afterCalls || struck.has(one.key)) continue;
          struck.add(one.key);
          events.onCount(one);
        }
        await play(call, 'before');
      },
      after: (call) => play(call, 'after'),
      strikerOf(call) {
        const nth = nthOf.get(call) ?? 0;
        const one = ofWire.find(
          ({ at, times }) => at.job === job && at.endpoint === call.endpoint && nth >= at.nth && nth < at.nth + times,
        );
        if (!one) return undefined;
        struck.add(one.key);
        return faults.get(one.fault);
      },
    });
  }

  return { url: proxy.url, calls, struck, watch, close: () => proxy.close() };
}
