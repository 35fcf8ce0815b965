/** Lets tests read what the service has done. Nothing here is part of the specification. */
import type { CallCount, CallRecord, CallStore } from './store/call-store.js';
import type { DeliveryAttempt } from './store/delivery-store.js';
import type { PromptRecord } from './store/prompt-store.js';
import type { SandboxRecord } from './store/sandbox-record.js';
import type { StoredStop } from './store/sandbox-store.js';
import type { Stores } from './store/stores.js';

/** Restricts an inspection. An empty filter selects everything. */
export interface InspectionFilter {
  readonly sandboxId?: string;
  /** Exact name of a sandbox; records without a sandbox are left out. */
  readonly name?: string;
}

/** Totals of a local service. */
export interface InspectionSummary {
  /** Number of calls by endpoint and response. */
  readonly calls: readonly CallCount[];
  /** Number of calls by endpoint, with any outcome. */
  readonly byEndpoint: Readonly<Record<string, number>>;
  /** Number of sandboxes that are not deleted. */
  readonly sandboxes: number;
  /** Number of webhook deliveries that wait for their next attempt. */
  readonly queuedDeliveries: number;
}

/** Each list is in the order in which things happened, oldest first. */
export interface Inspection {
  /** Requests that the service received, with their responses. */
  calls(filter?: InspectionFilter): readonly CallRecord[];
  /** Every sandbox, including deleted ones. */
  sandboxes(filter?: InspectionFilter): readonly SandboxRecord[];
  /** Every accepted prompt, with its text. */
  prompts(filter?: InspectionFilter): readonly PromptRecord[];
  stops(filter?: InspectionFilter): readonly StoredStop[];
  deliveries(filter?: InspectionFilter): readonly DeliveryAttempt[];
  /** Totals of the service. Its cost does not depend on the number of records. */
  summary(): InspectionSummary;
}

export function createInspection(stores: Stores, calls: CallStore): Inspection {
  function select<Entry>(filter: InspectionFilter, list: (sandboxId?: string) => Entry[]): Entry[] {
    if (filter.name === undefined) return list(filter.sandboxId);
    return stores.sandboxes.all({ id: filter.sandboxId, name: filter.name }).flatMap(({ id }) => list(id));
  }
  return {
    calls: (filter = {}) => select(filter, (id) => calls.list(id)),
    sandboxes: (filter = {}) => stores.sandboxes.all({ id: filter.sandboxId, name: filter.name }),
    prompts: (filter = {}) => select(filter, (id) => (id === undefined ? stores.prompts.all() : stores.prompts.of(id))),
    stops: (filter = {}) => select(filter, (id) => (id === undefined ? stores.stops.all() : stores.stops.of(id))),
    deliveries: (filter = {}) => select(filter, (id) => stores.deliveries.attempts(id)),
    summary() {
      const counts = calls.counts();
      const byEndpoint: Record<string, number> = {};
      for (const { endpoint, count } of counts) byEndpoint[endpoint] = (byEndpoint[endpoint] ?? 0) + count;
      return {
        calls: counts,
        byEndpoint,
        sandboxes: stores.sandboxes.livingCount,
        queuedDeliveries: stores.deliveries.queuedCount(),
      };
    },
  };
}
