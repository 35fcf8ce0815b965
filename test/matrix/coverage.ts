/** Calls of workflows without rows: a new activity, or a new endpoint in an existing one, until a scenario calls it. */
import { createActivities, createFollowActivities } from '../../activities/index.js';
import { endpoints } from '../../src/contract/endpoints/endpoints.js';
import { importsIn, readSource, sourceFiles } from '../unit/house/source-imports.js';
import type { Recording } from './table.js';

/** Activities that call Temporal, the result store or a person, and never the service. */
const silent = [
  'assembleFanout',
  'awaitClosed',
  'awaitItems',
  'awaitJob',
  'claimSandbox',
  'describeWorkflows',
  'finishCleanup',
  'keepCleanupResults',
  'leaseSandbox',
  'lookAtOtherCleanups',
  'notify',
  'readFanoutChunk',
  'readFanoutItem',
  'readPromptPhase',
  'registerWatch',
  'settleFanoutItem',
  'storeObject',
  'surveyFanout',
];

/** A client method that is not an endpoint. */
const listing: Readonly<Record<string, string>> = { listAllSandboxes: 'listSandboxes' };

const nothing = new Proxy({}, { get: () => () => undefined });
const dependencies = { client: nothing, results: nothing, taskQueue: 'none' } as never;
const names = Object.keys({ ...createActivities(dependencies), ...createFollowActivities(dependencies) });
const workflowCode = sourceFiles('workflows').map(readSource).join('\n');
const calledByWorkflows = names.filter((name) =>
  new RegExp(`\\.${name}(\\.executeWithOptions)?\\(`).test(workflowCode),
);

/** Endpoints in the files of the activities that workflows call, and in their imports. */
function endpointsInReach(): Set<string> {
  const files = sourceFiles('activities').filter((file) => file !== 'activities/index.ts');
  const defines = (file: string) =>
    calledByWorkflows.some((name) =>
      new RegExp(`(async |function |create.*)${name}\\b|${name}Activity`).test(readSource(file)),
    );
  const reached = new Set(files.filter(defines));
  for (const file of reached) {
    for (const { target, isOwn, isTypeOnly } of importsIn(file, readSource(file))) {
      if (isOwn && !isTypeOnly && target.startsWith('activities/')) reached.add(target);
    }
  }
  const methods = [...reached].flatMap((file) =>
    [...readSource(file).matchAll(/\bclient\.(\w+)\(/g)].map(([, name = '']) => name),
  );
  return new Set(methods.map((name) => listing[name] ?? name).filter((name) => Object.hasOwn(endpoints, name)));
}

/** In the same file as a called one, and called by none of our workflows: for workflows of users. */
const isOfOthers = (endpoint: string) => names.includes(endpoint) && !calledByWorkflows.includes(endpoint);

export function withoutRows(recordings: readonly Recording[]): { activities: string[]; endpoints: string[] } {
  const sites = recordings.flatMap((recording) => recording.sites);
  const made = new Set(sites.map(({ name }) => name.split('/', 1)[0] ?? ''));
  const asked = new Set<string>(sites.map(({ endpoint }) => endpoint));
  return {
    activities: calledByWorkflows.filter((name) => !made.has(name) && !silent.includes(name)),
    endpoints: [...endpointsInReach()].filter((endpoint) => !asked.has(endpoint) && !isOfOthers(endpoint)),
  };
}
