/**
 * Runs a command at most once, under a marker on the sandbox's own disk. The answer on the wire counts. After a lost answer,
 * or in a later attempt, the marker tells what became of it: the command is never sent again under the same marker.
 */
import { activityInfo, Context, heartbeat } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { SandboxClient } from '../../src/client/index.js';
import type { ResponseOf } from '../../src/contract/endpoints.js';
import type { CommandBody } from '../../src/contract/requests.js';
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
  /** Begins the name: the sandbox and the execution. Other markers of the same owner are of commands that have ended. */
  readonly owner: string;
  /** Never used before: it names the owner and the step, and ends with a random part. */
  readonly name: string;
  /** True where an earlier activity may have sent the command under this marker: then it is only looked for. */
  readonly recover: boolean;
  /** True after a reset, when it may have been run by a run that this one does not remember. */
  readonly wasReset?: boolean;
}

type CommandAnswer = ResponseOf<'runCommand'>;

/** `not_begun`: it has not run, and will not under this marker, on the disk that the machine has now. */
export type MarkedEnd =
  | { readonly how: 'answered' | 'recovered'; readonly answer: CommandAnswer }
  | { readonly how: 'not_begun' };

/** Kept at Temporal before the first byte goes out. */
interface Intent {
  readonly marked: boolean;
  /** For the count of the next attempt. */
  readonly spent: { readonly calls: number; readonly maybeSent: true };
}

const answerMarginMs = 15_000;
/** A command is waited for so much longer than it may run; then it is not known what became of it. */
const endMarginMs = 30_000;

interface MarkedCall {
  readonly client: SandboxClient;
  readonly sandboxId: string;
  readonly body: CommandBody;
  readonly marker: CommandMarker;
  readonly attempt: Attempt;
}

/** @throws ApplicationFailure `outcome_unknown` when the marker does not tell what became of the command */
export async function runMarked(call: MarkedCall): Promise<MarkedEnd> {
  const { marker, attempt, body } = call;
  const earlier = activityInfo().heartbeatDetails as Intent | undefined;
  if (attempt.attempt > 1 && earlier?.marked === false) throw unknown(call, 'ended while it ran the command');
  if (marker.wasReset) throw unknown(call, 'whose run was reset may have run the command');
  if (marker.recover || (attempt.attempt > 1 && earlier)) return recover(call);

  const isShort = Buffer.byteLength(body.command) <= longestMarkedBytes;
  const claimed = isShort ? await claim(call) : 'no_place';
  if (claimed === 'taken') return recover(call);
  if (claimed === 'no_place') return { how: 'answered', answer: await runUnmarked(call) };
  return claimed;
}

/** To be removed before the disk is kept. Safe to repeat. */
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

/** Where no marker can be made. It is sent once all the same, and nobody can know what became of it when its answer is lost. */
async function runUnmarked(call: MarkedCall): Promise<CommandAnswer> {
  const sent = await sendOnce(call, call.body, false);
  if (sent === 'lost') throw unknown(call, 'lost the answer to the command');
  return sent;
}

/** Sends a command when Temporal has the intent. An attempt that Temporal has given up cannot send. */
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
        const failure = describeFailure(error, attempt.calls());
        throw failure ? finalFailure(failure) : error;
      }
    },
    () => intentOf(call, marked),
  );
}

function intentOf({ attempt }: MarkedCall, marked: boolean): Intent {
  return { marked, spent: { calls: attempt.calls(), maybeSent: true } };
}

/** Looks at the marker until it says what became of the command. */
async function recover(call: MarkedCall): Promise<MarkedEnd> {
  const { client, sandboxId, body, marker, attempt } = call;
  const { scheduledTimestampMs } = activityInfo();
  const longestMs = body.timeoutSeconds === undefined ? Number.POSITIVE_INFINITY : body.timeoutSeconds * 1_000;
  const command = recoverText(marker.name);
  const timeoutSeconds = recoveryWaitSeconds + 60;
  const timeoutMs = timeoutSeconds * 1_000 + answerMarginMs;
  return withHeartbeat(
    async () => {
      for (;;) {
        const answer = await attempt
          .call((signal) => client.runCommand(sandboxId, { command, timeoutSeconds }, { signal, timeoutMs }))
          .catch((error: unknown) => {
            failIfDraining(call, true);
            heartbeat(intentOf(call, true));
            throw repeatableFailure(error, { calls: attempt.calls(), maybeSent: true });
          });
        const word = markerWord(marker.name, answer.stderr);
        if (word === 'not_begun') return { how: word };
        if (word === 'running') {
          if (Date.now() < scheduledTimestampMs + longestMs + endMarginMs) continue;
          throw unknown(call, 'saw the command run for longer than it may');
        }
        if (word !== undefined) throw unknown(call, whatWasSeen[word]);
        // The recovery itself was cut off, and not the command.
        if (answer.timedOut) continue;
        return { how: 'recovered', answer };
      }
    },
    () => intentOf(call, true),
  );
}

const whatWasSeen: Readonly<Record<Exclude<MarkerWord, 'not_begun' | 'running'>, string>> = {
  taken: 'found a marker that says nothing',
  no_place: 'found no place where the marker could be',
  died: 'found that the command began and left no result',
  restarted: 'found that the machine was started anew since the command ended',
};

function unknown({ attempt }: MarkedCall, seen: string): Error {
  const why = `The answer to the command did not arrive, and an attempt ${seen}.`;
  return outcomeUnknown(why, { endpoint: 'runCommand', calls: attempt.calls() });
}

/** The next attempt, of another worker, finds the command by its marker. */
function failIfDraining(call: MarkedCall, marked: boolean): void {
  if (!call.attempt.signal.aborted) return;
  heartbeat(intentOf(call, marked));
  throw ApplicationFailure.retryable('The worker ended while the command ran', 'worker_drained');
}
