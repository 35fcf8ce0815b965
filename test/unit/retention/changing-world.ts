/** A service and a Temporal that change while an action reads them. */
import type { ActionPorts } from '../../../activities/cleanup/guarded-action.js';
import type { PlannedAction } from '../../../src/protocol/cleanup-plan.js';
import { ownershipOf } from '../../../src/retention/ownership.js';
import type { Seen } from './truths.js';
import { deployment, type Truth, type World } from './worlds.js';

export interface Witness {
  claims: number;
  releases: number;
  /** Stopped or deleted sandboxes. */
  acted: string | null;
  /** Each part as it was last read. */
  truth(): Seen;
  /** Calls in a wrong order, or between the last read and the action. */
  disorder(): string[];
}

/** @param script changes, each at a call of its number */
export function changingWorld(
  first: World,
  script: readonly (readonly [number, (world: World) => World])[],
  nowMs: number,
): { begin(action: PlannedAction): { readonly ports: ActionPorts; readonly seen: Witness } } {
  let world = first;
  let calls = 0;
  const pass = () => {
    for (const [at, change] of script) if (at === calls) world = change(world);
    calls += 1;
  };
  pass();

  return {
    begin(action) {
      const { id } = action.facts;
      const order: string[] = [];
      const parts: { -readonly [Part in keyof Truth]?: Truth[Part] } = {};
      const lostKeeps: string[] = [];
      let isGone = false;
      /** Temporal still knows the owner of a sandbox that has disappeared. */
      let last: Truth | undefined;
      const ask = (what: string) => {
        pass();
        order.push(what);
      };
      const act = async (what: string): Promise<string> => {
        order.push('act');
        seen.acted = what;
        return `operation of ${what}`;
      };
      const seen: Witness = {
        claims: 0,
        releases: 0,
        acted: null,
        truth() {
          const now = world.get(id);
          if (isGone || (!now && !parts.facts)) return { truth: undefined, lostKeeps };
          const base: Truth = now ?? { facts: action.facts, seen: undefined, leasedBy: [], snapshots: [] };
          return { truth: { ...base, ...parts }, lostKeeps };
        },
        disorder() {
          const kept = order.filter((step) => step !== 'keep' && step !== 'snapshots').join(' ');
          return /^claim read owner act(?: release)?$/.test(kept) ? [] : [`out of order: ${order.join(' ')}`];
        },
      };
      const ports: ActionPorts = {
        async claim() {
          ask('claim');
          seen.claims += 1;
          parts.leasedBy = world.get(id)?.leasedBy ?? [];
          return { granted: parts.leasedBy.length === 0, claimedBy: [], leasedBy: parts.leasedBy };
        },
        async confirm() {
          const leasedBy = parts.leasedBy ?? [];
          return { granted: leasedBy.length === 0, claimedBy: [], leasedBy };
        },
        escalate: () => Promise.reject(new Error('no rule escalates')),
        isEscalated: () => Promise.reject(new Error('no rule escalates')),
        async release() {
          order.push('release');
          seen.releases += 1;
        },
        async read(sandboxId) {
          const isOwn = sandboxId === id;
          ask(isOwn ? 'read' : 'keep');
          const truth = world.get(sandboxId);
          if (isOwn) isGone = truth === undefined;
          if (isOwn && truth) parts.facts = truth.facts;
          if (isOwn) last = truth;
          const isLost = !truth || truth.facts.state === 'cancelled' || truth.facts.dataExpiredAt !== null;
          if (!isOwn && isLost) lostKeeps.push(sandboxId);
          return truth?.facts ?? null;
        },
        async snapshotsOf() {
          ask('snapshots');
          parts.snapshots = world.get(id)?.snapshots ?? [];
          return parts.snapshots;
        },
        async ownerOf(named) {
          ask('owner');
          const truth = world.get(id) ?? last;
          parts.seen = truth?.seen;
          return truth ? ownershipOf(named, deployment, truth.seen) : action.owner;
        },
        nowMs: () => nowMs,
        stop: act,
        deleteSandbox: async (what) => ({ operationId: await act(what) }),
        deleteSnapshot: async (what) => ({ operationId: await act(what) }),
      };
      return { ports, seen };
    },
  };
}
