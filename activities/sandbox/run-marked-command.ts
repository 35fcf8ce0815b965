/**
 * Runs a command at most once, with a marker on the sandbox's own disk. If the answer arrives, it is the result. After
 * a lost answer, or in a later attempt, the marker shows the outcome. The command is never sent twice with the same
 * marker.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo, Context, heartbeat } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { SandboxClient } from '../../src/client/index.js';
import type { ResponseOf } from '../../src/contract/endpoints/endpoints.js';
import type { CommandBody } from '../../src/contract/requests/sandbox-requests.js';
import { type Attempt, withHeartbeat } from '../retry/attempt.js';
import { describeFailure, effectOf, finalFailure, outcomeUnknown, repeatableFailure } from '../retry/classify.js';
import {
  claimText,
  longestMarkedBytes,
  type MarkerWord,
  markerWord,
  recoverText,
  recoveryWaitSeconds,
  removalText,
} from './command-marker.js';

export interface CommandMarker {
  /** Prefix of the name: the sandbox and the execution. Other markers of the same owner belong to ended commands. */
  readonly owner: string;
  /** A new, unique name: owner, step and a random part. */
  readonly name: string;
  /**
   * True if an earlier activity may have sent the command with this marker. Then only the marker is checked, and the
   * command is not sent.
   */
  readonly recover: boolean;
  /** True after a reset, because an earlier run may have run the command, and this run does not know it. */
  readonly wasReset?: boolean;
}

type CommandAnswer = ResponseOf<'runCommand'>;

/** `not_begun`: the command has not run, and cannot run later with this marker on the machine's current disk. */
export type MarkedEnd =
  | { readonly how: 'answered' | 'recovered'; readonly answer: CommandAnswer }
  | { readonly how: 'not_begun' };

/** Recorded in Temporal before the first byte is sent. */
interface Intent {
  readonly marked: boolean;
  /** Number of calls so far, for the count of the next attempt. */
  readonly spent: { readonly calls: number; readonly maybeSent: true };
}

const answerMarginMs = 15_000;
/** How long a recovery waits after the time limit of the command, in ms. After that, the outcome is unknown. */
const endMarginMs = 30_000;
/** Pause between two recovery scripts, in ms: the script itself may return without waiting. */
const recoverPauseMs = 1_000;

interface MarkedCall {
  readonly client: SandboxClient;
  readonly sandboxId: string;
  readonly body: CommandBody;
  readonly marker: CommandMarker;
  readonly attempt: Attempt;
}

/** @throws ApplicationFailure `outcome_unknown` if the marker does not show the outcome of the command */
export async function runMarked(call: MarkedCall): Promise<MarkedEnd> {
  const { marker, attempt, body } = call;
  const earlier = activityInfo().heartbeatDetails as Intent | undefined;
  if (attempt.attempt > 1 && earlier?.marked === false) throw unknown('ended while it ran the command');
  if (marker.wasReset) throw unknown('whose run was reset may have run the command');
  if (marker.recover || (attempt.attempt > 1 && earlier)) return recover(call);

  const isShort = Buffer.byteLength(body.command) <= longestMarkedBytes;
  const claimed = isShort ? await claim(call) : 'no_place';
  if (claimed === 'taken') return recover(call);
  if (claimed === 'no_place') return { how: 'answered', answer: await runUnmarked(call) };
  return claimed;
}

/** Removes the markers of an owner. Call it before the disk is saved. Safe to repeat. */
export async function removeMarkers(
  call: Pick<MarkedCall, 'client' | 'sandboxId' | 'attempt'>,
  owner: string,
): Promise<void> {
  const command = removalText(owner);
  await call.attempt.call((signal) =>
    call.client.runCommand(call.sandboxId, { command, timeoutSeconds: 60 }, { signal, timeoutMs: 75_000 }),
  );
}

async function claim(call: MarkedCall): Promise<MarkedEnd | 'taken' | 'no_place'> {
  const { body, marker } = call;
  const command = claimText(marker.owner, marker.name, body.command);
  const sent = await sendOnce(call, { ...body, command }, true);
  if (sent === 'lost') return recover(call);
  const word = markerWord(marker.name, sent.stderr);
  if (word === 'taken' || word === 'no_place') return word;
  return { how: 'answered', answer: sent };
}

/**
 * Runs a command if no marker can be created. The command is still sent only once. If the answer is lost, the outcome
 * is unknown.
 */
async function runUnmarked(call: MarkedCall): Promise<CommandAnswer> {
  const sent = await sendOnce(call, call.body, false);
  if (sent === 'lost') throw unknown('lost the answer to the command');
  return sent;
}

/**
 * Sends a command after Temporal has recorded the intent. An attempt that has timed out cannot record its intent, and
 * so cannot send.
 */
async function sendOnce(call: MarkedCall, body: CommandBody, marked: boolean): Promise<CommandAnswer | 'lost'> {
  const { client, sandboxId, attempt } = call;
  const timeoutMs = body.timeoutSeconds === undefined ? undefined : body.timeoutSeconds * 1_000 + answerMarginMs;
  await Context.current().client.activity.heartbeat(activityInfo().taskToken, intentOf(call, marked));
  return withHeartbeat(
    async () => {
      try {
        return await attempt.call((signal) => client.runCommand(sandboxId, body, { signal, timeoutMs }));
      } catch (error) {
        if (effectOf(error) === 'unknown') {
          failIfDraining(call, marked);
          return 'lost';
        }
        const failure = describeFailure(error);
        throw failure ? finalFailure(failure) : error;
      }
    },
    () => intentOf(call, marked),
  );
}

function intentOf({ attempt }: MarkedCall, marked: boolean): Intent {
  return { marked, spent: { calls: attempt.calls(), maybeSent: true } };
}

/** Reads the marker until it shows the outcome of the command. */
async function recover(call: MarkedCall): Promise<MarkedEnd> {
  const { client, sandboxId, body, marker, attempt } = call;
  const { scheduledTimestampMs } = activityInfo();
  const longestMs = body.timeoutSeconds === undefined ? Number.POSITIVE_INFINITY : body.timeoutSeconds * 1_000;
  const command = recoverText(marker.name);
  const timeoutSeconds = recoveryWaitSeconds + 60;
  const timeoutMs = timeoutSeconds * 1_000 + answerMarginMs;
  return withHeartbeat(
    async () => {
      for (let reads = 0; ; reads += 1) {
        if (reads > 0) await sleep(recoverPauseMs);
        const answer = await attempt
          .call((signal) => client.runCommand(sandboxId, { command, timeoutSeconds }, { signal, timeoutMs }))
          .catch((error: unknown) => {
            failIfDraining(call, true);
            heartbeat(intentOf(call, true));
            throw repeatableFailure(error, { maybeSent: true, pauseMs: attempt.pauseMs });
          });
        const word = markerWord(marker.name, answer.stderr);
        if (word === 'not_begun') return { how: word };
        if (word === 'running') {
          if (Date.now() < scheduledTimestampMs + longestMs + endMarginMs) continue;
          throw unknown('saw the command run for longer than its time limit');
        }
        if (word !== undefined) throw unknown(whatWasSeen[word]);
        // Only the recovery script reached its time limit, not the command.
        if (answer.timedOut) continue;
        return { how: 'recovered', answer };
      }
    },
    () => intentOf(call, true),
  );
}

const whatWasSeen: Readonly<Record<Exclude<MarkerWord, 'not_begun' | 'running'>, string>> = {
  taken: 'found an empty marker',
  no_place: 'found that the sandbox has no place for markers',
  died: 'found that the command began but left no result',
  restarted: 'found that the machine was restarted after the command ended',
};

function unknown(seen: string): Error {
  const why = `The answer to the command did not arrive, and an attempt ${seen}.`;
  return outcomeUnknown(why, { endpoint: 'runCommand' });
}

/** Fails an attempt whose worker shuts down. The next attempt, on another worker, finds the command by its marker. */
function failIfDraining(call: MarkedCall, marked: boolean): void {
  if (!call.attempt.signal.aborted) return;
  heartbeat(intentOf(call, marked));
  throw ApplicationFailure.retryable('The worker ended while the command ran', 'worker_drained');
}
