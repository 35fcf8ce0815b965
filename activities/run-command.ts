/** Retry class `once`: commands. */
import { activityInfo } from '@temporalio/activity';
import type { SandboxClient } from '../src/client/index.js';
import type { ResponseOf } from '../src/contract/endpoints.js';
import type { CommandBody } from '../src/contract/requests.js';
import type { Counted } from '../src/contract/service-failure.js';
import type { Text } from '../src/contract/texts.js';
import type { ResultStore } from '../src/result-store/index.js';
import { beating, counted, createAttempt } from './calls.js';
import { describeFailure, effectOf, finalFailure, outcomeUnknown } from './failures.js';
import { readText } from './texts.js';

export interface RunCommandInput {
  readonly sandboxId: string;
  readonly body: Omit<CommandBody, 'command'> & { readonly command: Text };
  /** True when running it twice does no harm; then it is repeated like a read. Default false. */
  readonly idempotent?: boolean;
  /** Only so many characters at the end of each output come back. Default: all of them. */
  readonly keepTail?: number;
}

const answerMarginMs = 15_000;

/**
 * Runs a command in a sandbox, once unless the caller calls it idempotent.
 * @throws ApplicationFailure `outcome_unknown` after a lost answer or a crash
 */
export function runCommandActivity(client: SandboxClient, results: ResultStore) {
  async function run(input: RunCommandInput): Promise<Counted<ResponseOf<'runCommand'>>> {
    const { sandboxId } = input;
    const body = { ...input.body, command: await readText(results, input.body.command) };
    const timeoutMs = body.timeoutSeconds === undefined ? undefined : body.timeoutSeconds * 1_000 + answerMarginMs;
    if (input.idempotent) {
      return counted(({ call }) => call((signal) => client.runCommand(sandboxId, body, { signal, timeoutMs })));
    }
    const attempt = createAttempt();
    const unknown = (why: string) => outcomeUnknown(why, { endpoint: 'runCommand', calls: attempt.calls() });
    if (activityInfo().attempt > 1) throw unknown('An earlier attempt ended while it was running the command.');
    return beating(async () => {
      try {
        const value = await attempt.call((signal) => client.runCommand(sandboxId, body, { signal, timeoutMs }));
        return { value, calls: attempt.calls() };
      } catch (error) {
        if (effectOf(error) === 'unknown') throw unknown('The answer to the command was lost.');
        const failure = describeFailure(error, attempt.calls());
        throw failure ? finalFailure(failure) : error;
      }
    });
  }

  return async function runCommand(input: RunCommandInput): Promise<Counted<ResponseOf<'runCommand'>>> {
    const { value, calls } = await run(input);
    const { keepTail } = input;
    if (keepTail === undefined) return { value, calls };
    const { stdout, stderr } = value;
    return { value: { ...value, stdout: stdout.slice(-keepTail), stderr: stderr.slice(-keepTail) }, calls };
  };
}
