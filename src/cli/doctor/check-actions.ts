/**
 * Checks which actions of a worker the key lacks. The service shows nobody the actions of a restricted key, so each is
 * asked for by a call that can change nothing: it reads, or names a sandbox or a snapshot that cannot exist.
 */
import type { PlainRequest, SandboxClient } from '../../client/index.js';
import { type EndpointName, endpoints, errorEnvelopeSchema } from '../../contract/endpoints/endpoints.js';
import { currentErrorCode } from '../../contract/workflow-safe/error-codes.js';
import { readWhole } from '../connect/answer-text.js';
import type { ServiceReads } from '../connect/ask-service.js';
import { type Check, ok, skipped, warning } from './check.js';
import { workerActions } from './needed-actions.js';

const timeoutMs = 10_000;
type WorkerAction = keyof typeof workerActions;

/** For each action a call that needs it. Without one, the service cannot be asked: a create has nothing to miss. */
const questions: Readonly<Record<Exclude<WorkerAction, 'sandbox.create'>, readonly [EndpointName, object?]>> = {
  'sandbox.read': ['getSandbox'],
  // Not the update itself: it may need another action for some fields.
  'sandbox.update': ['shareSandbox'],
  'sandbox.stop': ['stopSandbox'],
  'sandbox.resume': ['resumeSandbox', {}],
  'sandbox.fork': ['forkSandbox', {}],
  // Without the header that confirms it.
  'sandbox.delete': ['deleteSandbox'],
  'agent.prompt': ['interruptSandbox', {}],
  exec: ['runCommand', { command: 'true' }],
  'file.read': ['readFile'],
  'file.write': ['writeFile', { path: 'none', content: '' }],
  'snapshot.read': ['listSandboxSnapshots'],
  'snapshot.write': ['deleteSnapshot'],
};
/** Ids of the service have no zero. */
export const noId = { sandboxId: 'bx_00000000', snapshotId: 'none' };

type Found = 'lacking' | 'granted' | 'unknown';

/** @returns a warning that names each missing action with what a worker without it does not do */
export async function checkActions(
  reads: Pick<ServiceReads, 'listApiKeys'>,
  client: Pick<SandboxClient, 'request'>,
): Promise<Check> {
  if (await isUnrestricted(reads)) {
    return ok('actions', 'The key is not restricted: it has every action, also those that sandflow does not need.');
  }
  const asked = Object.keys(questions) as (keyof typeof questions)[];
  const found = await Promise.all(asked.map(async (action) => [action, await ask(client, action)] as const));
  const of = (kind: Found) => found.filter(([, one]) => one === kind).map(([action]) => action);
  const [lacking, unknown] = [of('lacking'), of('unknown')];
  const why = 'sandbox.create cannot be asked for without creating one';
  if (unknown.length === asked.length)
    return skipped('actions', `The service does not say which actions the key has; ${why}.`);
  const rest = unknown.length === 0 ? `${why}.` : `${why}, and the service does not say it of ${unknown.join(', ')}.`;
  if (lacking.length === 0)
    return ok('actions', `The key lacks no action of a worker that the service can be asked for; ${rest}`);
  const lost = lacking.map((action) => `${action} (it ${workerActions[action]})`).join(', ');
  return warning(
    'actions',
    `A worker with this key lacks ${lost}; ${rest}`,
    'If a worker has this key, give it one with these actions; see docs/security.md, "The smallest keys". Commands need fewer.',
  );
}

/** Only an unrestricted key sees the keys of the account (specification, "API key endpoints"). */
async function isUnrestricted(reads: Pick<ServiceReads, 'listApiKeys'>): Promise<boolean> {
  const answer = await reads.listApiKeys({ timeoutMs }).catch(() => undefined);
  return answer !== undefined && answer.apiKeys.length > 0;
}

async function ask(client: Pick<SandboxClient, 'request'>, action: keyof typeof questions): Promise<Found> {
  const [endpoint, body] = questions[action];
  const { method, path } = endpoints[endpoint];
  const request: PlainRequest = {
    method,
    path: path.replace('{sandboxId}', noId.sandboxId).replace('{snapshotId}', noId.snapshotId) as `/${string}`,
    ...(endpoint === 'readFile' && { query: { path: 'none' } }),
    ...(body && { body: JSON.stringify(body) }),
  };
  try {
    const response = await client.request(request, { timeoutMs });
    const text = (await readWhole(response.body)).toString('utf8');
    if (response.status !== 403) return response.status < 429 ? 'granted' : 'unknown';
    const envelope = errorEnvelopeSchema.safeParse(JSON.parse(text));
    const isLacking = envelope.success && currentErrorCode(envelope.data.code) === 'api_key_action_forbidden';
    return isLacking ? 'lacking' : 'unknown';
  } catch {
    return 'unknown';
  }
}
