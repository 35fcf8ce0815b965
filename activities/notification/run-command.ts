/** Runs a command of the worker's own configuration. No other text of a workflow reaches a shell of the worker. */
import { spawn } from 'node:child_process';

export interface NotifyCommandRun {
  /** Goes on stdin only: what a workflow says must not become part of a command line or an environment. */
  readonly input: string;
  /** Kills the command and what it has started. */
  readonly signal: AbortSignal;
}

/** @returns the exit code; null where a signal ended it */
export function runNotifyCommand(command: string, { input, signal }: NotifyCommandRun): Promise<number | null> {
  signal.throwIfAborted();
  const child = spawn('/bin/sh', ['-c', command], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  // A command that does not read its input closes the pipe, which is no failure of the command.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const kill = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // Its group has ended.
    }
  };
  signal.addEventListener('abort', kill, { once: true });
  return new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  }).finally(() => signal.removeEventListener('abort', kill));
}
