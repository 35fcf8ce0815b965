/** `sandflow exec`: runs one command in a sandbox. */
import { shellWord } from '../../texts/shell-word.js';
import type { CommandContext } from '../command.js';
import { withService } from '../connect/with-service.js';
import { exitCodes } from '../exit-codes.js';
import { formatDuration, ofThisProcess, parseDurationMs } from '../units.js';
import type { ExecOptions } from './options.js';

/** What the service may need, beyond the command itself, to answer, in ms. */
const answerMs = 30_000;

/**
 * Not safe to repeat: the command runs again.
 * @param words the command. One word is a line for the shell; several reach the program as they are.
 * @returns the exit code of the command
 */
export async function runInSandbox(
  sandboxId: string,
  words: readonly string[],
  { cwd, timeout }: ExecOptions,
  context: CommandContext,
): Promise<number> {
  const { io } = context;
  const limitMs = parseDurationMs(timeout, '--timeout', ofThisProcess);
  const [line = ''] = words;
  const body = {
    command: words.length > 1 ? words.map(shellWord).join(' ') : line,
    timeoutSeconds: limitMs / 1_000,
    ...(cwd !== undefined && { cwd }),
  };
  const result = await withService(context, async ({ service }) => {
    try {
      return await service.runCommand(sandboxId, body, { timeoutMs: limitMs + answerMs, signal: io.interrupted });
    } catch (error) {
      const most = formatDuration(limitMs);
      if (io.interrupted.aborted) io.stderr.write(`The command may go on in ${sandboxId}, for ${most} at most.\n`);
      throw error;
    }
  });
  io.stdout.write(Buffer.from(result.stdout));
  io.stderr.write(Buffer.from(result.stderr));
  if (result.timedOut) io.stderr.write(`The command was ended after ${formatDuration(limitMs)}. See --timeout.\n`);
  return result.exitCode ?? exitCodes.otherOutcome;
}
