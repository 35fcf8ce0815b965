/** Calls that a Temporal server lacks: it is too old, or its configuration has disabled them. Imports no client. */
import { SandflowError } from '../errors/sandflow-error.js';

const grpcCodes = { permissionDenied: 7, unimplemented: 12 };

/** What the server says of a call that its configuration has disabled, and the setting that enables it. */
const settings: readonly (readonly [RegExp, string])[] = [
  [/ExecuteMultiOperation|MultiOperation/i, 'frontend.enableExecuteMultiOperation'],
  [/UpdateWorkflowExecution|WorkflowExecutionUpdate/i, 'frontend.enableUpdateWorkflowExecution'],
  [/Schedule/i, 'frontend.enableSchedules'],
];
const disabled = /(?:is|are) disabled on this namespace/i;

/** @returns the error for people, if `error` or one of its causes says that the server has no such call; safe to repeat */
export function missingApiOf(error: unknown): SandflowError | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof SandflowError && error.code === 'temporal_api_missing') return error;
  const { code, details } = error as { readonly code?: unknown; readonly details?: unknown };
  const said = typeof details === 'string' && details !== '' ? details : error.message;
  const isMissing =
    code === grpcCodes.unimplemented ||
    (code === grpcCodes.permissionDenied && disabled.test(`${said} ${error.message}`));
  if (!isMissing) return missingApiOf(error.cause);
  const setting = settings.find(([pattern]) => pattern.test(`${said} ${error.message}`))?.[1];
  const enable = setting ? `, and enable it in its dynamic configuration with \`${setting}: true\`` : '';
  const mend = `Use a server of version 1.28 or later${enable}; in Temporal Cloud, ask its support`;
  const message = `Temporal lacks a call that sandflow needs: ${said.replace(/\.$/, '')}. ${mend}.`;
  return new SandflowError('temporal_api_missing', message, { cause: error });
}
