/** Runs a command of the worker's own configuration. No text of a workflow reaches a shell of the worker. */
import { spawn } from 'node:child_process';

export interface NotifyCommandRun {
  /** Passed on stdin only, because text of a workflow must not become part of a command line or an environment. */
  readonly input: string;
  /** Kills the command and its child processes. */
  readonly signal: AbortSignal;
}

/** @returns the exit code; null if a signal ended the command */
export function runNotifyCommand(command: string, { input, signal }: NotifyCommandRun): Promise<number | null> {
  signal.throwIfAborted();
  const child = spawn('/bin/sh', ['-c', command], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  // A command that does not read its input closes the pipe. That is not a failure.
  child.stdin.on('error', () => undefined);
  // A whole line: a command may append it to a file of lines.
  child.stdin.end(`${input}\n`);
  const kill = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // The process group has ended.
    }
  };
  signal.addEventListener('abort', kill, { once: true });
  return new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  }).finally(() => signal.removeEventListener('abort', kill));
}
