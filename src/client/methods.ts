/** The methods of the client, one for each endpoint. Most derive from its row. */
import { type Endpoint, type EndpointName, endpoints, type RawEndpointName } from '../contract/endpoints/endpoints.js';
import type { AccountCalls } from './areas/account-calls.js';
import type { MachineCalls } from './areas/machine-calls.js';
import type { SandboxCalls } from './areas/sandbox-calls.js';
import type { SnapshotCalls } from './areas/snapshot-calls.js';
import type { WorkCalls } from './areas/work-calls.js';
import type { CallOptions, StreamOptions } from './call-options.js';
import type { Call, Open } from './caller.js';
import { downloadStream, saveDownload } from './download.js';

export interface ClientMethods extends AccountCalls, SandboxCalls, WorkCalls, MachineCalls, SnapshotCalls {}

type JsonEndpoint = Exclude<EndpointName, RawEndpointName>;

export function clientMethods(call: Call, open: Open): ClientMethods {
  const artifact = (sandboxId: string, path: string, o?: StreamOptions) =>
    open('downloadArtifact', { sandboxId, query: { path } }, o);
  const file = (snapshotId: string, path: string, o?: StreamOptions) =>
    open('downloadSnapshotFile', { snapshotId, query: { path } }, o);
  const whole = (snapshotId: string, o?: StreamOptions) => open('downloadSnapshot', { snapshotId }, o);
  const names = Object.keys(endpoints) as JsonEndpoint[];
  const derived = Object.fromEntries(names.map((name) => [name, methodOf(call, name)]));
  return {
    ...(derived as unknown as Pick<ClientMethods, JsonEndpoint>),
    listAllSandboxes: async (query, { isWanted, ...o } = {}) =>
      (await call('listSandboxes', { query, whole: true, isWanted }, o)).sandboxes,
    createSandbox: (body = {}, o) => call('createSandbox', { body }, o),
    forkSandbox: (sandboxId, body = {}, o) => call('forkSandbox', { sandboxId, body }, o),
    readFile: (sandboxId, path, o) => call('readFile', { sandboxId, query: { path } }, o),
    openDesktop: (sandboxId, { vnc, ...body } = {}, o) => {
      const parts = { sandboxId, query: { vnc } };
      return call('openDesktop', body.publicAccess === undefined ? parts : { ...parts, body }, o);
    },
    downloadArtifact: (sandboxId, path, o) => saveDownload(artifact(sandboxId, path, o), o),
    openArtifact: async (sandboxId, path, o) => downloadStream(await artifact(sandboxId, path, o)),
    downloadSnapshotFile: (snapshotId, path, o) => saveDownload(file(snapshotId, path, o), o),
    openSnapshotFile: async (snapshotId, path, o) => downloadStream(await file(snapshotId, path, o)),
    downloadSnapshot: (snapshotId, o) => saveDownload(whole(snapshotId, o), o),
    openSnapshot: async (snapshotId, o) => downloadStream(await whole(snapshotId, o)),
  };
}

/** Its parameters are those of the path, then the body or the query, if the endpoint takes one, then the options. */
function methodOf(call: Call, name: JsonEndpoint) {
  const { path, body, query, confirmDelete }: Endpoint = endpoints[name];
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter = '']) => parameter);
  const parameters = [...inPath, ...(body ? ['body'] : query ? ['query'] : [])];
  return (...given: unknown[]) => {
    const parts = Object.fromEntries(parameters.map((parameter, at) => [parameter, given[at]]));
    const all = { ...parts, ...(confirmDelete && { confirmDelete: given[0] }) };
    return call(name, all as Parameters<typeof call<typeof name>>[1], given[parameters.length] as CallOptions);
  };
}
