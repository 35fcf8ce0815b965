/** What an error means for the person at the terminal: a message, an exit code, and the `error` of `--json`. */
import type { JobError } from '../../workflows/job.js';
import { SandflowError } from '../contract/sandflow-error.js';
import { ServiceRefusal } from './connect/service-refusal.js';
import { exitCodes } from './exit-codes.js';

export interface Failure {
  readonly exitCode: number;
  readonly error: JobError;
}

/** Codes of errors that end with 2: what was asked or configured cannot be done. */
const usageCodes: ReadonlySet<string> = new Set([
  'bad_usage',
  'bad_configuration',
  'bad_api_key',
  'bad_job_input',
  'bad_stop_request',
  'bad_job_id',
  'bad_policy',
  'schedule_not_found',
  'job_not_found',
  'job_ended',
  'refused',
  'metrics_not_served',
  'port_in_use',
  'directory_in_use',
  'agent_not_isolated',
  'home_not_writable',
  'home_not_trusted',
  'file_not_trusted',
  'no_webhook_secret',
  'webhook_secret_unknown',
  'webhook_duplicate',
  'secret_file_unwritable',
  'download_not_written',
  'bad_items',
  'bad_fanout_input',
  'fanout_not_found',
  'fanout_ended',
  'fanout_differs',
  'fanout_runs',
  'not_a_fanout',
  'not_a_job',
  'keys_not_announced',
  'encryption_key_unknown',
  'not_decryptable',
  'not_encrypted',
]);

/** Never throws; an error that nobody planned for is reported with its message and no stack. */
export function failureOf(error: unknown): Failure {
  const status = numberIn(error, 'status');
  return {
    exitCode: exitCodeOf(error, status),
    error: {
      code: error instanceof SandflowError ? error.code : (stringIn(error, 'code') ?? 'unexpected'),
      message: messageOf(error),
      status: status ?? null,
      requestId: stringIn(error, 'requestId') ?? null,
      details: recordIn(error, 'details') ?? null,
    },
  };
}

function exitCodeOf(error: unknown, status: number | undefined): number {
  if (error instanceof SandflowError && usageCodes.has(error.code)) return exitCodes.usage;
  if (error instanceof SandflowError && error.code === 'fanout_lost') return exitCodes.otherOutcome;
  if (error instanceof ServiceRefusal) return error.mayPass ? exitCodes.unreachable : exitCodes.usage;
  if (systemCodeOf(error) === 'EADDRINUSE' || systemCodeOf(error) === 'EACCES') return exitCodes.usage;
  if (status !== undefined && status >= 400 && status < 500 && status !== 408 && status !== 429) return exitCodes.usage;
  return exitCodes.unreachable;
}

function messageOf(error: unknown): string {
  if (systemCodeOf(error) === 'EADDRINUSE') {
    const port = numberIn(error, 'port');
    return `The port${port === undefined ? '' : ` ${port}`} is in use. Choose another with --port, or end what uses it.`;
  }
  if (!(error instanceof Error)) return String(error);
  if (error instanceof SandflowError) return error.message;
  // The client of Temporal hides the reason in a chain of causes: the innermost says what happened.
  const cause = innermost(error);
  return cause === error || cause.message === '' ? error.message : `${error.message}: ${cause.message}`;
}

function innermost(error: Error): Error {
  return error.cause instanceof Error ? innermost(error.cause) : error;
}

function systemCodeOf(error: unknown): string | undefined {
  return stringIn(error, 'code') ?? (error instanceof Error && error.cause ? systemCodeOf(error.cause) : undefined);
}

function valueIn(holder: unknown, key: string): unknown {
  return typeof holder === 'object' && holder !== null && key in holder
    ? (holder as Readonly<Record<string, unknown>>)[key]
    : undefined;
}

function stringIn(holder: unknown, key: string): string | undefined {
  const value = valueIn(holder, key);
  return typeof value === 'string' ? value : undefined;
}

function numberIn(holder: unknown, key: string): number | undefined {
  const value = valueIn(holder, key);
  return typeof value === 'number' ? value : undefined;
}

function recordIn(holder: unknown, key: string): Readonly<Record<string, unknown>> | undefined {
  const value = valueIn(holder, key);
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
}
