/**
 * The fields that each command prints with `--json`. `--fields` chooses from them, so they are known before anything
 * starts.
 */
import type { CleanupSummary } from '../../../workflows/cleanup/types.js';
import type { FanoutProgress } from '../../../workflows/fanout/progress.js';
import type { FanoutResult } from '../../../workflows/fanout/result.js';
import type { JobProgress, UnrenewedAutoStop } from '../../../workflows/job/progress.js';
import type { JobError, LeftBehind } from '../../../workflows/job/result.js';
import type { StopRequestView } from '../../../workflows/stop/types.js';
import type { StackStatus } from '../../supervisor/control-protocol.js';
import type { CleanupSchedule } from '../../temporal/cleanups/schedules.js';
import type { FanoutSummary, JobSummary } from '../../temporal/list.js';
import type { OpenDelivery } from '../../temporal/open-deliveries.js';
import type { SandboxIsolation } from '../connect/isolation.js';
import type { Check } from '../doctor/check.js';
import type { ShownItem } from '../fanout/shown-items.js';
import type { WaitingCall } from '../run/waiting-calls.js';
import type { SandboxReport } from '../sandboxes/show-sandbox.js';
import type { OpenStop } from '../stops/list-stops.js';
import type { TranscriptEntry } from '../transcript/entry.js';
import type { JobLinks } from './job-links.js';
import type { JobReport } from './job-report.js';

/** `true` for a plain value; `'any'` if the names inside can be chosen freely, like labels, or are too many to list. */
export type Shape = true | 'any' | Shapes;
export interface Shapes {
  readonly [name: string]: Shape;
}

export interface JsonFields {
  readonly fields: Shapes;
  /** The list or object whose fields may also be named alone: `id` for `sandboxes.id`. */
  readonly inside?: string;
}

/** The field names of a type. The compiler reports each name that is missing. */
type ShapeOf<T> = [NonNullable<T>] extends [readonly (infer Row)[]]
  ? ShapeOf<Row>
  : [NonNullable<T>] extends [string | number | boolean]
    ? true
    : 'any' | ShapesOf<NonNullable<T>>;
type ShapesOf<T> = { readonly [Name in NamesIn<T>]: ShapeOf<ValueIn<T, Name>> };
type NamesIn<T> = T extends unknown ? keyof T & string : never;
type ValueIn<T, Name> = T extends unknown ? (Name extends keyof T ? T[Name] : never) : never;

/** Plain values. */
function plain<const Names extends readonly string[]>(...names: Names): Record<Names[number], true> {
  return Object.fromEntries(names.map((name) => [name, true as const])) as Record<Names[number], true>;
}

const error: ShapesOf<JobError> = { ...plain('code', 'message', 'status', 'requestId'), details: 'any' };
const left: ShapesOf<LeftBehind> = plain('kind', 'sandboxId', 'sandboxName', 'conversationId', 'why');
const wakes = plain('waitedFor', 'by', 'event', 'lagMs', 'waitedMs', 'at');
const phases = plain('phase', 'at');
const degraded = plain('sandboxId', 'reason', 'since');
const autoStop: ShapesOf<UnrenewedAutoStop> = plain('since', 'stopsAt', 'message');
const blocked: ShapesOf<NonNullable<JobProgress['blocked']>> = plain('reason', 'step', 'message', 'since');
const isolation: ShapesOf<SandboxIsolation> = {
  ...plain('isolation', 'reason', 'lacks', 'text', 'warnings'),
  network: plain('kind', 'reason', 'wished', 'allowHost'),
  limits: plain('memory', 'processes'),
};
const prompts: ShapeOf<JobReport['prompts']> = {
  ...plain('prompt', 'promptRef', 'promptId', 'conversationId', 'status', 'result', 'resultRef', 'error'),
  ...plain('queuedAt', 'startedAt', 'endedAt'),
};

const job: ShapesOf<JobReport> = {
  ...plain('jobId', 'outcome', 'sandboxId', 'sandboxName', 'wakeCount', 'apiCalls', 'durationMs'),
  ...{ prompts, degraded, left, wakes, phases, isolation, error },
  setup: plain('status', 'error'),
  stop: plain('stopId', 'status', 'kept', 'error'),
  deletion: plain('operationId', 'status', 'error'),
  files: {
    ...plain('path', 'size', 'sha256', 'ref', 'error', 'partial', 'unchanged', 'localPath'),
    diff: plain('outcome', 'repository', 'base', 'changedFiles', 'notes'),
  },
};
const links: ShapesOf<JobLinks> = plain('workflowId', 'uiUrl');
const waitingFor: ShapesOf<WaitingCall> = plain('call', 'attempt', 'nextAt', 'lastError', 'maybeMade');
const progress: ShapesOf<JobProgress> = {
  ...plain('jobId', 'phase', 'since', 'sandboxId', 'apiCalls', 'deadlineAt', 'outcome', 'machineType'),
  ...{ phases, blocked, degraded, autoStop, prompts, wakes },
  times: plain('startedAt', 'createdAt', 'usableAt', 'promptedAt', 'answeredAt', 'endingAt', 'endedAt'),
};

const listed = {
  ...plain('status', 'outcome', 'startedAt', 'endedAt'),
  labels: 'any',
  unreadable: plain('code', 'message'),
} as const;
const jobs: ShapesOf<JobSummary> = { ...listed, ...plain('jobId', 'prompt') };
const batches: ShapesOf<FanoutSummary> = { ...listed, ...plain('batchId', 'title') };

const batchProgress: ShapesOf<FanoutProgress> = {
  ...plain('batchId', 'batchKey', 'title', 'phase', 'since', 'startedAt', 'deadlineAt', 'sourceSandboxId', 'sealed'),
  ...plain('chunks', 'throttledUntil', 'outcome'),
  counts: { ...plain('items', 'queued', 'running', 'completed', 'failed', 'retried'), byOutcome: 'any' },
  budget: plain('limitSeconds', 'spentSeconds', 'reservedSeconds'),
  blocked: plain('message', 'since'),
  error,
};
const items: ShapesOf<ShownItem> = plain('index', 'id', 'phase', 'since', 'outcome', 'error', 'sandboxId');
const batchResult: ShapesOf<FanoutResult> = {
  ...batchProgress,
  ...plain('apiCalls', 'durationMs', 'resultsRef', 'leftMore', 'leftSandboxIds'),
  left,
};
const batch: Shapes = {
  ...batchResult,
  ...plain('resultsFile', 'reportFile', 'filesFolder', 'problems', 'left'),
  isolation,
};
/** What `--dry-run` prints. */
const survey: Shapes = {
  ...plain('items', 'prompts', 'promptBytes', 'mostMachineSeconds', 'budgetSeconds'),
  policy: 'any',
};

const entry: ShapesOf<TranscriptEntry> = {
  ...plain('at', 'kind', 'phase', 'step', 'message', 'prompt', 'text', 'command', 'exitCode', 'output', 'status'),
  ...plain('outcome'),
  wake: wakes,
  // A message for the end of a prompt, an object for the end of the job.
  error: 'any',
};

const sandbox: ShapesOf<SandboxReport> = {
  ...plain('id', 'name', 'state', 'error', 'health', 'healthReason', 'degradedSince', 'hydrated', 'hydratedAt'),
  ...plain('type', 'vcpu', 'memoryGB', 'machineProvider', 'ip', 'sshEndpoint', 'subdomain', 'createdAt', 'updatedAt'),
  ...plain('archiveAfter', 'ttlSeconds', 'dataExpiredAt', 'snapshots', 'snapshotAvailable', 'snapshotCompletedAt'),
  ...plain('snapshotVerifiedAt', 'lastSnapshotAttemptAt', 'lastSnapshotStatus', 'monitoring', 'createdBy'),
  ...plain('createdById', 'access', 'visibility', 'holdsCreatorLogins', 'wipePendingUntilRestart', 'setupStatus'),
  ...plain('setupError', 'environment', 'environmentVersion', 'desktopAvailable'),
  ...({ hydration: 'any', team: 'any', cost: 'any', stop: 'any' } as const),
};

const requests: ShapesOf<StopRequestView> = {
  ...plain('requestId', 'phase', 'outcome', 'stopId', 'status', 'kept', 'askedAgain', 'owner', 'arrivedAt'),
  ...plain('deadlineAt', 'alertedAt', 'endedAt'),
  ...{ blocked, error },
  failed: 'any',
};
const openStop: ShapesOf<OpenStop> = {
  ...plain('sandboxId', 'name', 'state', 'status', 'since', 'error', 'waiting'),
  ...({ stop: 'any', owner: 'any' } as const),
  requests,
};

const summary: ShapesOf<CleanupSummary> = {
  ...plain('workflowId', 'policy', 'outcome', 'startedAt', 'endedAt', 'reportRef', 'apiCalls'),
  ...({ planned: 'any', counts: 'any' } as const),
  error,
};
const schedules: ShapesOf<CleanupSchedule> = plain('policy', 'paused', 'note', 'nextAt', 'lastRun');
const checks: ShapesOf<Check> = plain('name', 'status', 'message', 'mend');

const undelivered: ShapesOf<OpenDelivery> = plain('workflowId', 'event', 'target', 'since', 'until', 'lastError');
const status: Shapes = {
  ...plain('state', 'pid', 'startedAt', 'foreground', 'kept', 'endsAt', 'openJobs', 'openIds', 'undeliveredCount'),
  ...({ stack: 'any', parts: 'any' } as const),
  clients: plain('pid', 'command', 'since'),
  undelivered,
} satisfies ShapesOf<StackStatus>;

const runFields: JsonFields = { fields: job };
const cleanup: JsonFields = { fields: { id: true, summary, plan: 'any', error } };
const change: JsonFields = { fields: { ...plain('policy', 'change'), error } };
const stack: JsonFields = { fields: { ...plain('running', 'home'), status, error }, inside: 'status' };
const webhook: JsonFields = { fields: { ...plain('webhookId', 'action', 'secretFile'), error } };

/** By the full name of the command. */
export const jsonFields: Readonly<Record<string, JsonFields>> = {
  run: runFields,
  continue: runFields,
  'jobs list': { fields: { jobs, error }, inside: 'jobs' },
  'jobs show': { fields: { ...job, ...links, progress, waitingFor } },
  'jobs logs': { fields: entry },
  'jobs watch': runFields,
  'jobs rerun': runFields,
  'jobs prompt': { fields: { ...plain('jobId', 'index'), error } },
  'jobs cancel': { fields: { ...plain('jobId', 'outcome', 'again'), left, error } },
  'jobs resolve': { fields: { ...plain('jobId', 'step', 'action'), error } },
  fanout: { fields: { ...batch, ...survey } },
  'fanout list': { fields: { batches, error }, inside: 'batches' },
  'fanout show': { fields: { ...batchProgress, items } },
  'fanout watch': { fields: batch },
  'fanout cancel': { fields: { ...plain('batchId', 'outcome'), error } },
  'fanout resume': { fields: batch },
  'fanout logs': { fields: entry },
  'bridge report': {
    fields: {
      ...plain('jobs', 'unreadable', 'waits', 'byWebhook', 'bySafetyPoll'),
      loss: plain('share', 'low', 'high'),
      lagMs: plain('p50', 'p95'),
      error,
    },
  },
  open: { fields: { ...plain('url', 'opened'), error } },
  sandboxes: { fields: { sandboxes: sandbox, error }, inside: 'sandboxes' },
  'sandboxes show': { fields: { sandbox, error }, inside: 'sandbox' },
  stop: {
    fields: { requestId: true, stops: { sandboxId: true, ...requests }, error },
    inside: 'stops',
  },
  'stops list': { fields: { stops: openStop, error }, inside: 'stops' },
  'stops explain': {
    fields: {
      ...plain('sandboxId', 'state', 'summary', 'facts', 'next'),
      advice: plain('what', 'command'),
      stop: 'any',
      requests,
      error,
    },
  },
  'cleanup plan': cleanup,
  'cleanup run': cleanup,
  'cleanup report': cleanup,
  'cleanup validate': { fields: { policy: 'any', error } },
  'cleanup schedule apply': { fields: { ...plain('policy', 'created', 'nextAt'), error } },
  'cleanup schedule list': { fields: { schedules, error }, inside: 'schedules' },
  'cleanup schedule pause': change,
  'cleanup schedule resume': change,
  'cleanup schedule trigger': change,
  'cleanup schedule delete': change,
  up: stack,
  status: stack,
  down: { fields: { ...plain('home', 'ended'), undelivered, error } },
  'local log': {
    fields: {
      ...plain('at', 'method', 'path', 'status', 'outcome', 'code', 'durationMs', 'requestId', 'sandboxId', 'endpoint'),
    },
  },
  'local assumptions': {
    fields: { assumptions: plain('id', 'says', 'count', 'firstRequestId'), error },
    inside: 'assumptions',
  },
  'local clock': { fields: { clock: plain('now', 'held'), error }, inside: 'clock' },
  'local export': { fields: { ...plain('file', 'sizeBytes'), error } },
  'local import': { fields: { ...plain('sandboxes', 'snapshots', 'exportedAt'), error } },
  'local seed': {
    fields: { accounts: 'any', environments: 'any', sandboxes: 'any', snapshots: 'any', webhooks: 'any', error },
  },
  'local reset': { fields: { reset: true, error } },
  config: {
    fields: { ...plain('profile', 'userFile', 'projectFile'), settings: plain('name', 'value', 'from'), error },
    inside: 'settings',
  },
  doctor: {
    fields: { healthy: true, checks, settings: plain('name', 'value', 'from'), error },
    inside: 'checks',
  },
  'webhooks connect': {
    fields: {
      ...plain('bridge', 'webhookId', 'action', 'url', 'secretFile'),
      check: plain('result', 'text'),
      others: plain('id', 'url'),
      error,
    },
  },
  'webhooks ensure': webhook,
  'webhooks list': { fields: { webhooks: plain('id', 'name', 'url', 'events'), error }, inside: 'webhooks' },
  'webhooks rotate': webhook,
  'webhooks delete': { fields: { ...plain('webhookId', 'deleted'), error } },
  'notify secret': { fields: { ...plain('file', 'secrets'), error } },
  'encryption show': {
    fields: { here: true, deployment: plain('current', 'keys'), problem: true, error },
  },
};
