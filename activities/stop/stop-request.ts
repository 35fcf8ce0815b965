/** Asks the workflow of a sandbox's stops about its requests. Reads Temporal only. */
import { Context } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { stepText } from '../../src/protocol/escalation.js';
import type { StopRequestView } from '../../src/protocol/stop.js';
import type { StopFollower } from '../../src/retention/index.js';
import { stopReport } from '../../src/workflow-client/stops/read-stops.js';
import { withHeartbeat } from '../retry/attempt.js';

/** The state of a request; null if Temporal no longer has it. Needs a worker. Safe to repeat. */
export async function readStopRequest(sandboxId: string, requestId: string): Promise<StopRequestView | null> {
  return withHeartbeat(async () => {
    const requests = await requestsOf(Context.current().client, sandboxId);
    return requests.find((request) => request.requestId === requestId) ?? null;
  });
}

/** The request that waits for the stop of a sandbox, first of all one that still escalates it; null if none waits. */
export async function followerOf(client: Client, sandboxId: string): Promise<StopFollower | null> {
  const open = (await requestsOf(client, sandboxId)).filter(({ outcome }) => outcome === null);
  const nextOf = ({ escalation }: StopRequestView) => escalation.find(({ endedAt }) => endedAt === null);
  const follower = open.find((request) => nextOf(request) !== undefined) ?? open[0];
  if (follower === undefined) return null;
  const next = nextOf(follower);
  return { requestId: follower.requestId, nextStep: next === undefined ? null : stepText(next) };
}

async function requestsOf(client: Client, sandboxId: string): Promise<readonly StopRequestView[]> {
  return (await stopReport(client, sandboxId))?.requests ?? [];
}
