/**
 * The armed faults. The database keeps them, so they survive a restart. They are used up in the order of their arming.
 */
import type { EndpointName } from '../../../src/contract/endpoints/endpoints.js';
import type { Database } from '../store/database.js';
import type { CallFault, DeliveryFault, FaultKind, FaultOf, FaultSpecification } from './fault-specification.js';

interface ArmedFault {
  readonly id: number;
  readonly fault: FaultSpecification;
  readonly remaining: number;
}

interface FaultRow {
  readonly seq: number;
  readonly specification: string;
  readonly remaining: number;
}

export type Faults = ReturnType<typeof createFaults>;

export function createFaults(database: Database) {
  let armed: readonly ArmedFault[] = [];
  const add = database.prepare('INSERT INTO faults (specification, remaining) VALUES (?, ?)');
  const update = database.prepare('UPDATE faults SET remaining = ? WHERE seq = ?');
  const remove = database.prepare('DELETE FROM faults WHERE seq = ?');
  const removeAll = database.prepare('DELETE FROM faults');
  const load = database.prepare<FaultRow>('SELECT * FROM faults ORDER BY seq');

  function set(next: readonly ArmedFault[]): void {
    const before = armed;
    armed = next;
    database.onRollback(() => {
      armed = before;
    });
  }

  function takeFirst(matches: (fault: FaultSpecification) => boolean): FaultSpecification | undefined {
    for (const candidate of armed) {
      const { id, fault, remaining } = candidate;
      if (!matches(fault)) continue;
      if (fault.probability !== undefined && Math.random() >= fault.probability) continue;
      if (remaining > 1) {
        update.run(remaining - 1, id);
        set(armed.map((other) => (other === candidate ? { ...other, remaining: remaining - 1 } : other)));
      } else {
        remove.run(id);
        set(armed.filter((other) => other !== candidate));
      }
      return fault;
    }
    return undefined;
  }

  return {
    /** Uses up one occasion of the first fault that matches a call. */
    takeForCall: (endpoint: EndpointName) =>
      takeFirst((fault) => 'endpoint' in fault && ['*', endpoint].includes(fault.endpoint)) as CallFault | undefined,
    /** Uses up one occasion of the first fault that matches an event for a webhook. */
    takeForDelivery(event: string, webhookId: string) {
      const taken = takeFirst(
        (fault) =>
          isDeliveryFault(fault) && (fault.webhookId ?? webhookId) === webhookId && (fault.event ?? event) === event,
      );
      return taken as DeliveryFault | undefined;
    },
    /** Uses up one occasion of the first fault that matches an archival attempt. */
    takeForStop: (sandboxId: string, stopId: string | undefined) =>
      takeFirst(
        (fault) =>
          fault.kind === 'stop_fails' &&
          (fault.sandboxId ?? sandboxId) === sandboxId &&
          (fault.stopId ?? stopId) === stopId,
      ),
    take: <Kind extends Exclude<FaultKind, 'stop_fails'>>(kind: Kind) =>
      takeFirst((fault) => fault.kind === kind) as FaultOf<Kind> | undefined,
    add(fault: FaultSpecification) {
      const { lastInsertRowid } = add.run(JSON.stringify(fault), fault.times);
      const entry = { id: lastInsertRowid, fault, remaining: fault.times };
      set([...armed, entry]);
      return entry;
    },
    list: () => armed,
    clear() {
      removeAll.run();
      set([]);
    },
    load() {
      armed = load.all().map(({ seq, specification, remaining }) => ({
        id: seq,
        fault: JSON.parse(specification) as FaultSpecification,
        remaining,
      }));
    },
  };
}

function isDeliveryFault(fault: FaultSpecification): fault is DeliveryFault {
  return fault.kind.startsWith('webhook_');
}
