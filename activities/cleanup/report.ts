/** Assembles the report of a cleanup in the result store. */

import type { ActionResult, CleanupReport, CleanupSummary, ReportEntry } from '../../src/protocol/cleanup.js';
import type { ResultStore } from '../../src/result-store/index.js';
import { storedJson } from '../../src/result-store/stored-json.js';
import type { CleanupPlan } from '../../src/retention/index.js';
import { withHeartbeat } from '../retry/attempt.js';
import { addByKey } from './add-by-key.js';

export interface FinishCleanupInput {
  readonly key: string;
  /** Results of the chunks. */
  readonly resultRefs: readonly string[];
  readonly summary: CleanupSummary;
}

/** What the summary learns from the report. */
export type FinishedCleanup = Pick<CleanupSummary, 'machinesLeft'> & { readonly reportRef: string };

export function createCleanupReporting(results: ResultStore) {
  const put = async (key: string, value: unknown) => (await results.put(key, Buffer.from(JSON.stringify(value)))).ref;
  const read = async (ref: string) => JSON.parse((await results.get(ref)).toString('utf8')) as unknown;

  return {
    /** Stores the results of a chunk. Safe to repeat. @returns its reference */
    keepCleanupResults: (key: string, chunk: readonly ActionResult[]): Promise<string> =>
      withHeartbeat(() => put(key, chunk)),

    /** Assembles and stores the report. Safe to repeat. */
    finishCleanup(input: FinishCleanupInput): Promise<FinishedCleanup> {
      return withHeartbeat(() => finish(input));
    },
  };

  async function finish({ key, resultRefs, summary }: FinishCleanupInput): Promise<FinishedCleanup> {
    const planRef = summary.planned?.planRef;
    const plan = planRef === undefined ? null : ((await read(planRef)) as CleanupPlan);
    const byNumber = new Map<number, ActionResult>();
    for (const ref of resultRefs) {
      for (const result of (await read(ref)) as ActionResult[]) byNumber.set(result.number, result);
    }
    const reported = plan && withResults(plan, byNumber);
    const machinesLeft = reported?.entries.filter(isLeftRunning).length ?? null;
    const report: CleanupReport = { summary: { ...summary, machinesLeft, reportRef: null }, plan: reported };
    const { ref } = await results.put(`${key}/report.json`, storedJson(report));
    return { reportRef: ref, machinesLeft };
  }
}

function withResults(plan: CleanupPlan, byNumber: ReadonlyMap<number, ActionResult>): CleanupReport['plan'] {
  const { entries, actions, ...rest } = plan;
  const bySandbox = new Map<string, ActionResult[]>();
  for (const { number, facts } of actions) {
    const result = byNumber.get(number);
    if (result) addByKey(bySandbox, facts.id, result);
  }
  return { ...rest, entries: entries.map((entry) => ({ ...entry, results: bySandbox.get(entry.sandboxId) ?? [] })) };
}

const ended: ReadonlySet<string> = new Set(['stopped', 'deleted', 'gone', 'skipped']);

/** A machine that the policy would have ended. What a guard protects is used by somebody, so it is not left. */
function isLeftRunning({ state, action, reason, results }: ReportEntry): boolean {
  if (state === 'archived' || state === 'cancelled' || (action === null && reason !== 'over_limit')) return false;
  return !results.some(({ outcome }) => ended.has(outcome));
}
