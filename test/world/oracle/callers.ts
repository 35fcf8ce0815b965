/** All callers of one stop are told the same end. */
import { type Broken, planOf, type WorldRecord } from './record.js';

export function brokenCallers(record: WorldRecord): Broken[] {
  return record.told.flatMap(({ job, stops }): Broken[] => {
    const plan = planOf(record, job);
    if (plan?.kind !== 'stop' || stops === undefined) return [];
    const { views, bindings } = stops;
    return views.flatMap((view) => {
      if (view.outcome !== 'already_archived') return [];
      // The workflow knew whose stop it was before it told this caller.
      const other = views.find(
        (one, at) =>
          one.outcome === 'archived' &&
          one.stopId === view.stopId &&
          timeOf(view.arrivedAt) < timeOf(one.endedAt) &&
          (bindings[at] ?? Number.POSITIVE_INFINITY) < timeOf(view.endedAt),
      );
      if (other === undefined) return [];
      const what = `${view.requestId} came before the end of ${view.stopId}, and says already_archived`;
      return [{ promise: 'the result says what is', job, what }];
    });
  });
}

const timeOf = (at: string | null) => Date.parse(at ?? '');
