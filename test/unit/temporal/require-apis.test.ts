import type { Client } from '@temporalio/client';
import { expect, it } from 'vitest';
import { missingApiOf } from '../../../src/temporal/missing-api.js';
import { requireApis } from '../../../src/temporal/require-apis.js';
import { requireProc } from '../../../src/temporal/require-proc.js';

const permissionDenied = 7;
const unimplemented = 12;
const answer = (code: number, details: string) => Object.assign(new Error(`${code}: ${details}`), { code, details });
const calls = ['executeMultiOperation', 'updateWorkflowExecution', 'listSchedules'] as const;

/** @param failing the answers of the server; the other calls refuse their arguments, as a server does */
function clientOf(failing: Partial<Record<(typeof calls)[number], Error>>): Client {
  const refusal = answer(3, 'Operations are not set on request.');
  const service = calls.map((name) => [name, () => Promise.reject(failing[name] ?? refusal)]);
  return {
    options: { namespace: 'default' },
    workflowService: Object.fromEntries(service),
    withDeadline: (_: number, call: () => unknown) => call(),
  } as unknown as Client;
}

it.each<[(typeof calls)[number], number, string, RegExp]>([
  [
    'executeMultiOperation',
    unimplemented,
    'unknown method ExecuteMultiOperation for service W',
    /version 1\.28 or later.*enableExecuteMultiOperation: true/,
  ],
  [
    'executeMultiOperation',
    permissionDenied,
    'ExecuteMultiOperation API is disabled on this namespace.',
    /enableExecuteMultiOperation: true/,
  ],
  [
    'updateWorkflowExecution',
    unimplemented,
    'unknown method UpdateWorkflowExecution for service W',
    /enableUpdateWorkflowExecution: true/,
  ],
  [
    'updateWorkflowExecution',
    permissionDenied,
    'UpdateWorkflowExecution operation is disabled on this namespace.',
    /enableUpdateWorkflowExecution: true/,
  ],
  ['listSchedules', permissionDenied, 'Schedules are disabled on this namespace.', /enableSchedules: true/],
  ['listSchedules', unimplemented, '', /needs a|lacks a call/],
])('names what a server lacks that answers %s with %i and %j', async (call, code, details, named) => {
  const missing = requireApis(clientOf({ [call]: answer(code, details) }));
  await expect(missing).rejects.toMatchObject({ code: 'temporal_api_missing', message: expect.stringMatching(named) });
});

it.each([
  [3, 'Operations are not set on request.'],
  [4, 'Deadline exceeded'],
  [5, 'Workflow execution not found'],
  [permissionDenied, 'Request unauthorized.'],
  [14, 'The connection was refused'],
  [16, 'Unauthenticated'],
])('accepts a server that answers with %i, %j: it has the call', async (code, details) => {
  const error = answer(code, details);
  await requireApis(clientOf({ executeMultiOperation: error, updateWorkflowExecution: error, listSchedules: error }));
});

it('finds the answer below the errors that the SDK wraps around it, and nothing in others', () => {
  const cause = answer(unimplemented, 'unknown method ExecuteMultiOperation');
  const wrapped = new Error('Update-With-Start failed', { cause: new Error('in between', { cause }) });
  expect(missingApiOf(wrapped)?.code).toBe('temporal_api_missing');
  expect(missingApiOf(missingApiOf(wrapped))?.message).toBe(missingApiOf(cause)?.message);
  for (const other of [undefined, 'text', new Error('other'), answer(14, 'is disabled on this namespace')])
    expect(missingApiOf(other)).toBeUndefined();
});

it.runIf(process.platform === 'linux').each(['/proc/no-such-file', '/no-such-folder/meminfo'])(
  'names the file %s that a host does not show',
  (file) =>
    expect(() => requireProc(file)).toThrow(`there is no ${file} here. Mount it with \`mount -t proc proc /proc\``),
);

// A /proc that hides the processes of others (hidepid=2) still shows this.
it('accepts a host that shows its memory', () => requireProc());
