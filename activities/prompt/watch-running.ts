/** Reads the sandboxes of many prompts for a while, and tells the workflows whose sandbox has left `running`. */
import { Context } from '@temporalio/activity';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { SandboxClient } from '../../src/client/index.js';
import { orNullWhenMissing } from '../../src/client/missing.js';
import { anySignal, timeLimit, withAnySignal } from '../../src/os/any-signal.js';
import { maxFollowedInAnswer } from '../../src/protocol/limits.js';
import {
  type Followed,
  type FollowRegistration,
  followedQuery,
  leftRunningSignal,
} from '../../src/protocol/messages.js';
import { abortable, firstQueryTimeoutMs, withAnswerTimeout } from '../../src/temporal/calls.js';
import { type FollowHub, readSingle, type SharedRead } from './follow-hub.js';

/**
 * How long one call watches, in ms. The time limit of the activity is a little longer: when a worker dies, another one
 * watches within a minute, without heartbeats.
 */
const roundMs = 30_000;
/** How many workflows are told at once: all prompts of an account may end together. */
const toldAtOnce = 50;
/** The longest wait for what to watch, in ms. */
const askMs = 10_000;
/** The shortest time, in ms: the next call learns what was registered in the meantime. */
const shortestRoundMs = 1_000;

/**
 * Watches the sandboxes that the calling workflow follows, for half a minute or until none is left to watch, and shorter
 * while one of them is younger than that. Safe to repeat: a workflow may be told twice.
 * @param given what to watch; the numbers are then the places in it. Default: what the workflow answers
 * @returns the numbers of the registrations whose workflows were told, or have ended
 */
export function watchRunningActivity(client: SandboxClient, hub: FollowHub) {
  return async function watchRunning(given?: readonly FollowRegistration[]): Promise<readonly number[]> {
    const { cancellationSignal, client: temporal, metricMeter } = Context.current();
    const told: number[] = [];
    const lanes = Array.from({ length: toldAtOnce }, () => Promise.resolve(false));
    const followed = given?.map((one, number) => ({ ...one, number })) ?? (await followedBy(cancellationSignal));
    const follows = metricMeter.createGauge('sandflow_followed_prompts', 'int', undefined, 'Prompts of the follower');
    follows.set(followed.length);
    const youngestMs = Date.now() - Math.max(...followed.map(({ sinceMs }) => sinceMs));
    const limit = timeLimit(Math.max(shortestRoundMs, Math.min(roundMs, youngestMs)));
    await withAnySignal([cancellationSignal, limit], async (signal) => {
      const runsOn = async (one: Followed, read: SharedRead | undefined) => {
        if (await isRunning(client, one, { read, signal })) return true;
        const lane = one.number % toldAtOnce;
        const telling = (lanes[lane] ?? Promise.resolve()).then(() => !signal.aborted && tell(temporal, one));
        lanes[lane] = telling;
        // If Temporal refuses, it is told after the next read.
        if (!(await telling)) return true;
        told.push(one.number);
        return false;
      };
      await hub.watch(followed, { onRead: runsOn, signal });
    }).finally(() => follows.set(0));
    // Another worker goes on at once.
    if (cancellationSignal.aborted) throw cancellationSignal.reason;
    return told;
  };
}

/** What the calling workflow follows: a query adds nothing to its history. */
async function followedBy(signal: AbortSignal): Promise<readonly Followed[]> {
  const { client, info } = Context.current();
  const { workflowId, runId } = info.workflowExecution ?? {};
  const follower = client.workflow.getHandle(workflowId ?? '', runId);
  const limited = anySignal([signal, timeLimit(askMs)]);
  const followed: Followed[] = [];
  for (;;) {
    const ask = () => follower.query(followedQuery, { after: followed.at(-1)?.number });
    const page = await abortable(client, limited, () => withAnswerTimeout(client, ask, firstQueryTimeoutMs));
    followed.push(...page);
    if (page.length < maxFollowedInAnswer) return followed;
  }
}

/** @param read undefined if no shared read shows the sandbox: that proves nothing (trap S13) */
async function isRunning(
  client: SandboxClient,
  { sandboxId }: FollowRegistration,
  { read, signal }: { readonly read: SharedRead | undefined; readonly signal: AbortSignal },
): Promise<boolean> {
  try {
    const one = read ?? (await orNullWhenMissing(readSingle(client, sandboxId, { signal })));
    return one?.sandbox.state === 'running';
  } catch {
    // An error shows no end, and the workflow would meet it too: the prompt still counts as running.
    return true;
  }
}

async function tell(client: Client, { workflowId, sandboxId }: FollowRegistration): Promise<boolean> {
  try {
    await client.workflow.getHandle(workflowId).signal(leftRunningSignal, { sandboxId });
    return true;
  } catch (error) {
    return error instanceof WorkflowNotFoundError;
  }
}
