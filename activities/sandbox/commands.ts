/** Retry class `once`: commands. */
import { activityInfo } from '@temporalio/activity';
import type { SandboxClient } from '../../src/client/index.js';
import type { ResponseOf } from '../../src/contract/endpoints/endpoints.js';
import type { CommandBody } from '../../src/contract/requests/sandbox-requests.js';
import type { Text } from '../../src/protocol/stored-text.js';
import type { ResultStore } from '../../src/result-store/index.js';
import { currentAttempt, fitting, repeatable, withHeartbeat } from '../retry/attempt.js';
import { describeFailure, effectOf, finalFailure, outcomeUnknown } from '../retry/classify.js';
import { readText } from '../store/texts.js';
import { type CommandMarker, type MarkedEnd, removeMarkers, runMarked } from './run-marked-command.js';

export interface RunCommandInput {
  readonly sandboxId: string;
  readonly body: Omit<CommandBody, 'command'> & { readonly command: Text };
  /** True if the command is safe to run twice; it is then retried like a read. Default: false. */
  readonly idempotent?: boolean;
  /** Number of characters to return from the end of each output. Default: all. */
  readonly keepTail?: number;
}

export type RunMarkedCommandInput = Omit<RunCommandInput, 'idempotent'> & { readonly marker: CommandMarker };

const answerMarginMs = 15_000;

export function createCommandActivities(client: SandboxClient, results: ResultStore) {
  return {
    /**
     * Runs a command in a sandbox, at most once unless it is marked idempotent.
     * @throws ApplicationFailure `outcome_unknown` after a lost answer or a crash; `answer_too_large` if the command
     *   ran but its output is too large for a workflow (set `keepTail`)
     */
    async runCommand(input: RunCommandInput): Promise<ResponseOf<'runCommand'>> {
      return fitting(shortened(await runOnce(client, results, input), input.keepTail));
    },

    /**
     * Runs a command in a sandbox at most once, even if answers are lost or workers end. It leaves a marker on the
     * sandbox's disk: remove it with `removeCommandMarkers` once the result is recorded.
     * @throws ApplicationFailure `outcome_unknown`; a `ServiceFailure` with `maybeSent`: then call the activity again
     * with `recover`
     */
    async runMarkedCommand(input: RunMarkedCommandInput): Promise<MarkedEnd> {
      const attempt = currentAttempt();
      const command = await readText(results, input.body.command);
      const end = await runMarked({ ...input, body: { ...input.body, command }, client, attempt });
      if (end.how === 'not_begun') return end;
      return fitting({ ...end, answer: shortened(end.answer, input.keepTail) });
    },

    /** Removes all markers of an owner. Call it once the results of their commands are recorded. Safe to repeat. */
    removeCommandMarkers: (sandboxId: string, owner: string): Promise<null> =>
      repeatable(async (attempt) => {
        await removeMarkers({ client, sandboxId, attempt }, owner);
        return null;
      }),
  };
}

async function runOnce(
  client: SandboxClient,
  results: ResultStore,
  input: RunCommandInput,
): Promise<ResponseOf<'runCommand'>> {
  const { sandboxId } = input;
  const body = { ...input.body, command: await readText(results, input.body.command) };
  const timeoutMs = body.timeoutSeconds === undefined ? undefined : body.timeoutSeconds * 1_000 + answerMarginMs;
  if (input.idempotent) {
    return repeatable(async ({ call }) => {
      const value = await call((signal) => client.runCommand(sandboxId, body, { signal, timeoutMs }));
      return shortened(value, input.keepTail);
    });
  }
  const attempt = currentAttempt();
  const unknown = (why: string) => outcomeUnknown(why, { endpoint: 'runCommand' });
  if (activityInfo().attempt > 1) throw unknown('An earlier attempt ended while it was running the command.');
  return withHeartbeat(async () => {
    try {
      return await attempt.call((signal) => client.runCommand(sandboxId, body, { signal, timeoutMs }));
    } catch (error) {
      if (effectOf(error) === 'unknown') throw unknown('The answer to the command was lost.');
      const failure = describeFailure(error);
      throw failure ? finalFailure(failure) : error;
    }
  });
}

function shortened(value: ResponseOf<'runCommand'>, keepTail: number | undefined): ResponseOf<'runCommand'> {
  if (keepTail === undefined) return value;
  const { stdout, stderr } = value;
  return { ...value, stdout: stdout.slice(-keepTail), stderr: stderr.slice(-keepTail) };
}
