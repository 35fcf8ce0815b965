/**
 * How the number of calls to the service travels from an activity to its workflow: around the result, or as a detail of
 * the failure. Neither activities nor workflows see it. No dependencies: workflow code imports this file.
 */

/** The header in which a workflow that continues as new hands on its number of calls. */
export const apiCallsHeader = 'sandflow-api-calls';

interface Counted {
  /** Number of calls, including those of failed attempts. */
  readonly sandflowCalls: number;
  readonly value?: unknown;
}

/** What Temporal stores as the result of an activity. An activity without calls has its plain result. */
export function withCalls(value: unknown, sandflowCalls: number): unknown {
  return sandflowCalls === 0 ? value : ({ sandflowCalls, value } satisfies Counted);
}

/** Reverses `withCalls`. */
export function splitCalls(stored: unknown): { readonly value: unknown; readonly calls: number } {
  return isCounted(stored) ? { value: stored.value, calls: stored.sandflowCalls } : { value: stored, calls: 0 };
}

/** The details of a failure, with the number of calls as the last one. */
export function detailsWithCalls(details: readonly unknown[], sandflowCalls: number): unknown[] {
  return sandflowCalls === 0 ? [...details] : [...details, { sandflowCalls } satisfies Counted];
}

/** The number of calls in the details of a failure. */
export function callsOfDetails(details: readonly unknown[]): number {
  return details.find(isCounted)?.sandflowCalls ?? 0;
}

function isCounted(stored: unknown): stored is Counted {
  return typeof stored === 'object' && stored !== null && 'sandflowCalls' in stored;
}
