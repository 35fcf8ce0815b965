/** What `doctor` says of a namespace of a real Temporal server. */
import { randomBytes } from 'node:crypto';
import { Client, Connection, type ConnectionOptions } from '@temporalio/client';
import { expect, inject, it, onTestFinished } from 'vitest';
import { checkTemporal } from '../../src/cli/doctor/check-temporal.js';
import { readConfig } from '../../src/config.js';
import { submitFanout } from '../../src/workflow-client/fanouts/submit-fanout.js';
import { startJob } from '../../src/workflow-client/jobs/job-client.js';
import { listJobs } from '../../src/workflow-client/list-executions.js';
import { registerSearchAttributes } from '../../src/workflow-client/search-attributes.js';
import { fanoutInput, items, source } from './fanout/fanout-harness.js';
import { jobInput } from './workflow-harness.js';

const daySeconds = 86_400;
const name = () => `keeps-${randomBytes(4).toString('hex')}`;

const permissionDenied = 7;
const unimplemented = 12;
type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];

/** Gives calls the answer of a server that refuses them to this user, or does not have them. */
function refusing(denied: readonly string[], code: number): Interceptor {
  return (options, nextCall) => {
    const call = nextCall(options) as ReturnType<Interceptor>;
    if (!denied.includes(options.method_definition.path.split('/').at(-1) ?? '')) return call;
    const start = call.start.bind(call);
    call.start = (metadata, listener) =>
      start(metadata, {
        onReceiveMetadata: (received) => listener?.onReceiveMetadata?.(received),
        onReceiveMessage: (received) => listener?.onReceiveMessage?.(received),
        onReceiveStatus: (answer) => listener?.onReceiveStatus?.({ ...answer, code, details: 'Request unauthorized.' }),
      });
    return call;
  };
}

/** @param denied names of calls that the user may not make */
async function doctorOf(namespace: string, denied: readonly string[] = [], code = permissionDenied, more = {}) {
  const address = inject('temporalAddress');
  const connection = await Connection.connect({
    address,
    interceptors: denied.length === 0 ? [] : [refusing(denied, code)],
  });
  onTestFinished(() => connection.close());
  const client = new Client({ connection, namespace });
  const config = readConfig({ TEMPORAL_ADDRESS: address, SANDFLOW_TASK_QUEUE: 'nobody-polls-this', ...more });
  const of = async (check: string) => (await checkTemporal(client, config)).find((one) => one.name === check);
  return { client, of };
}

async function registered(days: number): Promise<string> {
  const namespace = name();
  const { client } = await doctorOf('default');
  const workflowExecutionRetentionPeriod = { seconds: days * daySeconds } as never;
  await client.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
  const { of } = await doctorOf(namespace);
  // A new namespace is known everywhere after some seconds.
  await expect.poll(async () => (await of('temporal'))?.status).toBe('ok');
  return namespace;
}

it.each([
  [1, 'warning', 'for 1 day. '],
  [14, 'ok', 'for 14 days.'],
  [30, 'ok', 'for 30 days.'],
] as const)('doctor judges a namespace that forgets after %i days as %s', async (days, judged, text) => {
  const namespace = await registered(days);
  const check = await (await doctorOf(namespace)).of('retention');
  expect(check).toMatchObject({ status: judged, message: expect.stringContaining(text) });
  if (judged === 'ok') return;
  expect(check?.message).toContain('an id may start a second job');
  expect(check?.message).toContain('which no cleanup touches');
  expect(check?.mend).toContain(`temporal operator namespace update --retention 30d -n ${namespace}`);
  expect(check?.mend).toContain('tcld namespace retention set');
});

it('doctor says that a user may not describe the namespace, and does not fail for it', async () => {
  const { of } = await doctorOf('default', ['DescribeNamespace', 'DescribeTaskQueue']);
  expect(await of('temporal')).toMatchObject({ status: 'ok' });
  expect(await of('workers')).toMatchObject({ status: 'skipped' });
  expect(await of('retention')).toMatchObject({
    status: 'skipped',
    message: expect.stringContaining('may not describe the namespace default'),
  });
});

it('doctor fails for a namespace in which the user may do nothing', async () => {
  const { of } = await doctorOf('default', ['DescribeNamespace', 'CountWorkflowExecutions']);
  expect(await of('temporal')).toMatchObject({ status: 'failed', message: expect.stringContaining('unauthorized') });
});

it.each(['ExecuteMultiOperation', 'UpdateWorkflowExecution', 'ListSchedules'])(
  'doctor names a server without %s',
  async (call) => {
    const check = await (await doctorOf('default', [call], unimplemented)).of('temporal');
    expect(check).toMatchObject({ status: 'failed', message: expect.stringContaining('lacks a call') });
  },
);

it('a namespace without search attributes is named before anything starts, and also one with another type', async () => {
  const namespace = await registered(1);
  const { client } = await doctorOf(namespace);
  const lacking = { code: 'bad_search_attributes', message: expect.stringContaining('sandflow jobs attributes') };
  const options = { taskQueue: 'nobody-polls-this', searchAttributes: true };
  await expect(startJob(client, jobInput(), options)).rejects.toMatchObject(lacking);
  const { taskQueue } = options;
  await expect(submitFanout(client, fanoutInput(source('bx_23456789')), items(1), options)).rejects.toMatchObject(
    lacking,
  );
  await expect(listJobs(client, { deployment: 'test', outcome: 'cancelled' })).rejects.toMatchObject(lacking);
  const on = await doctorOf(namespace, [], permissionDenied, { SANDFLOW_SEARCH_ATTRIBUTES: 'on' });
  expect(await on.of('temporal')).toMatchObject({
    status: 'failed',
    message: expect.stringContaining('jobs attributes'),
  });
  expect(await startJob(client, jobInput(), { taskQueue })).toMatchObject({ started: true });

  const int = 3;
  await client.connection.operatorService.addSearchAttributes({
    namespace,
    searchAttributes: { SandflowBlocked: int },
  });
  await expect
    .poll(() => registerSearchAttributes(client).catch(({ message }) => message))
    .toContain(`${namespace} has SandflowBlocked, but not as Keyword`);
});

it.each([
  ['may not add search attributes', permissionDenied],
  ['has no call for them', unimplemented],
])('who %s learns how to add them elsewhere', async (_, code) => {
  const { client } = await doctorOf('default', ['ListSearchAttributes'], code);
  await expect(registerSearchAttributes(client)).rejects.toMatchObject({
    code: 'bad_search_attributes',
    message: expect.stringMatching(/unauthorized.*tcld namespace search-attributes add -n default .*Blocked=Keyword/),
  });
});
