/** Runs the commands of a job in its sandbox, one after the other. */
import { cut, headOf, type Text } from '../../src/contract/texts.js';
import { commands } from '../proxies.js';
import { JobEnded, jobError } from './job-ended.js';
import type { JobRun } from './job-run.js';
import { endIfMachineLost, whileUsable } from './while-usable.js';

const longestCommandSeconds = 3_600;
const tailLength = 2_000;

/** @throws JobEnded `sandbox_failed` at the first command that does not exit with 0 */
export async function runCommands(run: JobRun, sandboxId: string): Promise<void> {
  const timeoutSeconds = Math.min(longestCommandSeconds, Math.ceil(run.input.deadlineMs / 1_000));
  for (const command of run.input.commands ?? []) {
    run.enter('running_commands');
    const summary = shortened(command);
    const ended = await whileUsable(run, sandboxId, 'command', () =>
      commands.runCommand.executeWithOptions({ summary }, [
        { sandboxId, body: { command, timeoutSeconds }, keepTail: tailLength },
      ]),
    );
    if (ended.exitCode === 0) continue;
    if (ended.exitCode === null && !ended.timedOut) await endIfMachineLost(run, sandboxId);
    const how = ended.exitCode === null ? 'did not exit by itself' : `exited with ${ended.exitCode}`;
    const said = ended.stderr.trim() || ended.stdout.trim();
    throw new JobEnded(
      'sandbox_failed',
      jobError('command_failed', `The command "${summary}" ${how}${said === '' ? '.' : `: ${said}`}`),
    );
  }
}

function shortened(command: Text): string {
  return cut(headOf(command, 500).trim().split('\n', 1)[0] ?? '', 80);
}
