/** Calls of workflows without rows: a new activity, or a new endpoint in an existing one, until a scenario calls it. */
import { createActivities, createFollowActivities } from '../../../activities/index.js';
import { endpoints } from '../../../src/contract/endpoints/endpoints.js';
import { importsIn, readSource, sourceFiles } from '../../unit/house/source-imports.js';
import { type Recording, sitesWithRows } from './table.js';

/** Activities that call Temporal, the result store or a person, and never the service. */
const silent = [
  'addItemEndings',
  'assembleFanout',
  'awaitItems',
  'awaitJob',
  'claimSandbox',
  'describeWorkflows',
  'finishCleanup',
  'handOverStop',
  'keepCleanupResults',
  'leaseSandbox',
  'lookAtOtherCleanups',
  'notify',
  'readFanoutChunk',
  'readFanoutItem',
  'readFanoutSource',
  'readPromptRecord',
  'readStopRequest',
  'registerWatch',
  'sendScheduledItems',
  'settleFanoutItem',
  'storeFanoutChunk',
  'storeLostItem',
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

/**
 * Functions whose calls have no rows: `runOnce` is used only by activities that none of our workflows calls, and
 * `readSingle` only beside very many sandboxes.
 */
const without = ['runOnce', 'readSingle'];

/** Lines that call the service, except in activities that only workflows of users call. */
function placesOfCalls(): string[] {
  return sourceFiles('activities').flatMap((file) => {
    const text = readSource(file);
    const defined = names.filter((name) => new RegExp(`(async |function )${name}\\b|${name}Activity`).test(text));
    if (defined.length > 0 && !defined.some((name) => calledByWorkflows.includes(name))) return [];
    const places: string[] = [];
    let [isOfActivities, isUsed] = [false, true];
    for (const [at, line] of text.split('\n').entries()) {
      const [begins, isExported, outer = ''] = /^(export )?(?:async )?function (\w+)/.exec(line) ?? [];
      if (begins) [isOfActivities, isUsed] = [isExported !== undefined, !without.includes(outer)];
      const [, method = ''] = /^ {4}async (\w+)\(/.exec(line) ?? [];
      if (isOfActivities && names.includes(method)) isUsed = calledByWorkflows.includes(method);
      const [, called = ''] = /\bclient\.(\w+)\(/.exec(line) ?? [];
      if (isUsed && Object.hasOwn(endpoints, listing[called] ?? called)) places.push(`${file}:${at + 1}`);
    }
    return places;
  });
}

export interface WithoutRows {
  readonly activities: readonly string[];
  readonly endpoints: readonly string[];
  /** Lines that call the service. */
  readonly places: readonly string[];
}

export function withoutRows(recordings: readonly Recording[]): WithoutRows {
  const sites = recordings.flatMap((recording) => recording.sites);
  const made = new Set(sites.map(({ name }) => name.split('/', 1)[0] ?? ''));
  const asked = new Set<string>(sites.map(({ endpoint }) => endpoint));
  const reached = new Set(recordings.flatMap((one) => sitesWithRows(recordings, one)).map(({ place }) => place));
  return {
    activities: calledByWorkflows.filter((name) => !made.has(name) && !silent.includes(name)),
    endpoints: [...endpointsInReach()].filter((endpoint) => !asked.has(endpoint) && !isOfOthers(endpoint)),
    places: placesOfCalls().filter((place) => !reached.has(place)),
  };
}
