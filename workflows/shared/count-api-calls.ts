/**
 * Counts the calls to the service that the activities of this workflow execution report, and hands on the number when
 * the workflow continues as new. Workflow code receives plain results. Every workflow bundle must include this module.
 */
import {
  ActivityFailure,
  ApplicationFailure,
  defaultPayloadConverter,
  type WorkflowInterceptors,
} from '@temporalio/workflow';
import { apiCallsHeader, callsOfDetails, splitCalls } from '../../src/protocol/counted-result.js';
import { ownState } from './own-state.js';

const counted = ownState('api-calls', () => ({ calls: 0 }));

/** Number of calls so far: by this run and the earlier ones of its chain, and those of `addApiCalls`. */
export function apiCalls(): number {
  return counted().calls;
}

/** Adds the calls that another workflow has made for this one. */
export function addApiCalls(calls: number): void {
  counted().calls += calls;
}

export const interceptors = (): WorkflowInterceptors => ({
  inbound: [
    {
      execute(input, next) {
        const carried = input.headers[apiCallsHeader];
        if (carried) addApiCalls(defaultPayloadConverter.fromPayload<number>(carried));
        return next(input);
      },
    },
  ],
  outbound: [
    {
      scheduleActivity: (input, next) => plain(next(input)),
      scheduleLocalActivity: (input, next) => plain(next(input)),
      continueAsNew(input, next) {
        const carried = defaultPayloadConverter.toPayload(counted().calls);
        return next({ ...input, headers: { ...input.headers, [apiCallsHeader]: carried } });
      },
    },
  ],
});

/** Counts the calls of an activity. @returns its plain result @throws its failure */
async function plain(stored: Promise<unknown>): Promise<unknown> {
  try {
    const { value, calls } = splitCalls(await stored);
    addApiCalls(calls);
    return value;
  } catch (error) {
    addApiCalls(callsOf(error));
    throw error;
  }
}

/** A worker that was killed reports no calls. */
function callsOf(error: unknown): number {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof ApplicationFailure ? callsOfDetails(cause.details ?? []) : 0;
}
