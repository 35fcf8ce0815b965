/** Tells the user's URL or command that a job or a stop ended, is blocked, or does not end. */
import { spawn } from 'node:child_process';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { request } from 'undici';
import type { NotifyTarget } from '../workflows/job.js';

export interface Notification {
  /**
   * `stop_failing`: a stop has not ended within the time after which somebody wants to know. `data_expiring`: the
   * service is about to delete the data of protected sandboxes.
   */
  readonly event: 'ended' | 'blocked' | 'stop_failing' | 'data_expiring';
  /** Null for a stop or a cleanup, which are not of a job. */
  readonly jobId: string | null;
  readonly workflowId: string;
  readonly sandboxId: string | null;
  /** The outcome with `ended`; null otherwise. */
  readonly outcome: string | null;
  readonly message: string | null;
  readonly at: string;
}

const timeoutMs = 20_000;

/**
 * Delivers a notification at least once.
 * @param allowCommands whether commands of jobs may run on this worker
 * @throws ApplicationFailure `notify_failed`; final where another attempt cannot help
 */
export function notifyActivity(allowCommands: boolean) {
  return async function notify(target: NotifyTarget, notification: Notification): Promise<void> {
    const body = JSON.stringify(notification);
    const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), Context.current().cancellationSignal]);
    if (target.url !== undefined) await post(target.url, body, signal);
    if (target.command === undefined) return;
    if (!allowCommands) {
      throw failed('This worker runs no notify commands; start it with --allow-notify-commands.', true);
    }
    await runWithInput(target.command, body, signal);
  };
}

async function post(url: string, body: string, signal: AbortSignal): Promise<void> {
  const { statusCode, body: answer } = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    signal,
  });
  await answer.dump();
  if (statusCode < 300) return;
  throw failed(`The notification was answered with status ${statusCode}.`, statusCode >= 400 && statusCode < 500);
}

async function runWithInput(command: string, input: string, signal: AbortSignal): Promise<void> {
  const child = spawn('/bin/sh', ['-c', command], { stdio: ['pipe', 'ignore', 'ignore'], signal });
  // A command that does not read its input closes the pipe, which is no failure of the command.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  if (code !== 0) throw failed(`The notify command exited with ${code ?? 'a signal'}.`, false);
}

function failed(message: string, nonRetryable: boolean): ApplicationFailure {
  return ApplicationFailure.create({ message, type: 'notify_failed', nonRetryable });
}
