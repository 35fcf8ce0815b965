/**
 * Checks that an answer belongs to its request. Without this, the answer to another request made a job work in, and end,
 * another sandbox (test/world/defects/D3.patch). A router or a cache may return the answer to another request, and a
 * client that accepted it would work in another sandbox.
 */
import { type EndpointName, endpoints } from '../contract/endpoints/endpoints.js';
import { isSandboxId } from '../contract/workflow-safe/ids.js';
import { at } from './lenient-parse.js';

/**
 * The fields in which answers repeat the parameters of the path. A missing field is accepted. The specification does
 * not say whose id the top-level `id` is, so it is not among them.
 */
const repeatedIn: Readonly<Record<string, readonly string[]>> = {
  sandboxId: ['sandbox.id', 'prompt.sandboxId', 'operation.sandboxId', 'snapshot.sandboxId'],
  stopId: ['stop.id'],
  promptId: ['prompt.id'],
  operationId: ['operation.id'],
  snapshotId: ['operation.snapshotId'],
  webhookId: ['webhook.id'],
  apiKeyId: ['apiKey.id'],
  environmentId: ['environment.id'],
};

const createsSandbox: ReadonlySet<EndpointName> = new Set(['createSandbox', 'forkSandbox']);

/**
 * Returns the first field of an answer that names another object than the requested one; undefined if there is none.
 * @param path of the request, relative to the base URL
 */
export function foreignField(endpoint: EndpointName, path: string, answer: unknown): string | undefined {
  const requested = parametersOf(endpoint, path);
  if (createsSandbox.has(endpoint)) return foreignFieldOfNew(requested.sandboxId, answer);
  for (const [parameter, id] of Object.entries(requested)) {
    const foreign = repeatedIn[parameter]?.find((field) => {
      const shown = at(answer, field.split('.'));
      return shown != null && shown !== id;
    });
    if (foreign !== undefined) return foreign;
  }
  return undefined;
}

/** A new sandbox has a valid id, and a fork is not its source. */
function foreignFieldOfNew(sourceId: string | undefined, answer: unknown): string | undefined {
  const id = at(answer, ['sandbox', 'id']);
  if (typeof id !== 'string' || !isSandboxId(id) || id === sourceId) return 'sandbox.id';
  const shownSource = at(answer, ['sourceSandboxId']);
  return shownSource != null && sourceId !== undefined && shownSource !== sourceId ? 'sourceSandboxId' : undefined;
}

function parametersOf(endpoint: EndpointName, path: string): Readonly<Record<string, string>> {
  const requested: Record<string, string> = {};
  const given = path.split('/');
  for (const [at, part] of endpoints[endpoint].path.split('/').entries()) {
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name !== undefined) requested[name] = decodeURIComponent(given[at] ?? '');
  }
  return requested;
}
