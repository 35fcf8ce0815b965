/**
 * Which activities may share a proxy: those for which the same timeouts and the same number of attempts are right. The
 * table of endpoints decides for each activity that has the name of an endpoint.
 */
import type { EndpointName, endpoints } from '../src/contract/endpoints/endpoints.js';
import type { SandflowActivities } from './index.js';

type Row = typeof endpoints;
type Called = EndpointName & keyof SandflowActivities;
/** Downloads may last longer than a read. */
type Reading = {
  [Name in Called]: Row[Name] extends { raw: true } ? never : Row[Name] extends { method: 'GET' } ? Name : never;
}[Called];
/** A command may last for hours, and is never repeated. */
type Changing = { [Name in Called]: Row[Name] extends { method: 'GET' } | { retry: 'once' } ? never : Name }[Called];

/** They change nothing, or only the result store in a way that can be repeated. */
export type ReadActivities = Pick<
  SandflowActivities,
  | Reading
  | 'findNamedSnapshot'
  | 'findPrompt'
  | 'findSandboxByName'
  | 'readPromptRecord'
  | 'readSourceChange'
  | 'storeTranscript'
>;

/** They change something outside Temporal, each with the evidence or the key of its retry class. */
export type EffectActivities = Pick<
  SandflowActivities,
  | Changing
  | 'applyCleanup'
  | 'claimSandbox'
  | 'deleteClaimed'
  | 'deleteFailingStop'
  | 'handOverStop'
  | 'leaseSandbox'
  | 'resumeFailingStop'
  | 'sendAndFollowPrompt'
>;

/** They run commands in a sandbox. */
export type CommandActivities = Pick<SandflowActivities, 'runMarkedCommand' | 'removeCommandMarkers'>;

/** They transfer files between a sandbox and the result store. */
export type FileActivities = Pick<
  SandflowActivities,
  'collectDiff' | 'collectFile' | 'fingerprintFile' | 'putFile' | 'recordDiffBase'
>;

/** They write one object of the result store. */
export type StoreActivities = Pick<
  SandflowActivities,
  'finishCleanup' | 'keepCleanupResults' | 'storeFanoutChunk' | 'storeObject'
>;

/** They read or write thousands of objects of the result store. */
export type BulkActivities = Pick<
  SandflowActivities,
  | 'addItemEndings'
  | 'assembleFanout'
  | 'readFanoutChunk'
  | 'readFanoutItem'
  | 'readFanoutSource'
  | 'sendScheduledItems'
  | 'settleFanoutItem'
  | 'storeLostItem'
  | 'surveyFanout'
>;

/** They read from Temporal. */
export type LookupActivities = Pick<SandflowActivities, 'describeWorkflows' | 'readStopRequest'>;

/** They read a whole account or, in one attempt, remove old results. */
export type PlanningActivities = Pick<SandflowActivities, 'lookAtOtherCleanups' | 'planCleanup' | 'removeResults'>;
