/**
 * The library: start jobs and talk to them, run a worker, receive webhooks, call the service.
 *
 * Each area also has its own entry, such as `sandflow/client`, which loads nothing else. Use `sandflow/workflows` to
 * register the workflows in your own worker, and `sandflow-local-service` in tests.
 *
 * In the examples of its functions, `client` is what `connectTemporal` returns, `api` what `createSandboxClient` returns,
 * `config` what `readConfig` returns, and `results` what `createResultStore` returns. Other names stand for your values.
 */
import './cli/require-node.js';

export {
  type ActivityDependencies,
  createActivities,
  createFollowActivities,
  createForkActivities,
  createNotifyActivities,
  type FollowActivities,
  type ForkActivities,
  type NotifyActivities,
  type SandflowActivities,
} from '../activities/index.js';
export { jobWorkflowId } from './addresses/addresses.js';
export * from './bridge/index.js';
export * from './client/index.js';
export { type Config, readConfig } from './config.js';
export { type ErrorCode, type ErrorMeaning, errorCodes, errorMeaning } from './contract/workflow-safe/error-codes.js';
export * from './encryption/index.js';
export { SandflowError } from './errors/sandflow-error.js';
export * from './notify/index.js';
export type * from './protocol/cleanup.js';
export {
  type Escalation,
  type EscalationAction,
  type EscalationStep,
  type ParseEscalationOptions,
  parseEscalation,
} from './protocol/escalation.js';
export type * from './protocol/fanout/fanout-input.js';
export type * from './protocol/fanout/fanout-progress.js';
export type * from './protocol/fanout/fanout-result.js';
export type * from './protocol/job/job-input.js';
export type * from './protocol/job/job-phases.js';
export type * from './protocol/job/job-progress.js';
export type * from './protocol/job/job-result.js';
export type { Resolution, SandboxEvent } from './protocol/messages.js';
export type * from './protocol/schedule.js';
export type { Overlap } from './protocol/schedule-overlaps.js';
export type {
  EscalationStepState,
  EscalationStepView,
  FailedArchivals,
  StopOutcome,
  StopReport,
  StopRequestView,
} from './protocol/stop.js';
export * from './result-store/index.js';
export { type CleanupPolicy, readPolicy, type SweepOptions, sweepPolicy } from './retention/index.js';
export * from './secret-store/index.js';
export { findTemporal } from './supervisor/find-temporal.js';
export { type ConnectTemporalOptions, connectTemporal, type TemporalTarget } from './temporal/connect.js';
export { clientOfWorker, connectWorker, type WorkerConnection } from './temporal/connect-worker.js';
export {
  type Agreement,
  type AgreeOptions,
  agreeOnKeys,
  type DeploymentKeys,
  deploymentKeys,
  forgetDeploymentKeys,
} from './temporal/deployment-keys.js';
export * from './webhook/index.js';
export * from './worker/index.js';
export {
  type CleanupHandle,
  type CleanupListed,
  cleanupHandle,
  cleanupProgress,
  listCleanups,
  type StartCleanupOptions,
  startCleanup,
} from './workflow-client/cleanups/cleanup-client.js';
export {
  cancelFanout,
  describeFanout,
  type FanoutAddress,
  fanoutProgress,
  type StartedFanout,
  type StartFanoutOptions,
} from './workflow-client/fanouts/fanout-client.js';
export {
  fanoutInputSchema,
  fanoutPolicySchema,
  type NewFanout,
  parseFanoutInput,
} from './workflow-client/fanouts/fanout-input.js';
export {
  type PlannedItem,
  type PlanResumeOptions,
  planResume,
  type ResumePlan,
} from './workflow-client/fanouts/plan-resume.js';
export { type ResumeFanoutOptions, resumeFanout } from './workflow-client/fanouts/resume-fanout.js';
export {
  type AwaitFanoutOptions,
  awaitFanout,
  type SubmitFanoutOptions,
  submitFanout,
} from './workflow-client/fanouts/submit-fanout.js';
export {
  cancelJob,
  describeJob,
  type JobAddress,
  type JobHandle,
  type JobMemo,
  jobHandle,
  jobProgress,
  promptJob,
  resolveJob,
  type StartedJob,
  type StartJobOptions,
  startJob,
} from './workflow-client/jobs/job-client.js';
export { jobInputSchema, parseJobInput } from './workflow-client/jobs/job-input.js';
export { type RerunJobOptions, rerunJob } from './workflow-client/jobs/rerun-job.js';
export type { Labels } from './workflow-client/labels.js';
export {
  type FanoutSummary,
  type JobSummary,
  type ListedWorkflow,
  type ListFanoutsOptions,
  type ListJobsOptions,
  listFanouts,
  listJobs,
} from './workflow-client/list-executions.js';
export {
  listSchedules,
  readSchedule,
  type Schedule,
  type ScheduledRun,
  type ScheduleSummary,
} from './workflow-client/schedules/read-schedules.js';
export { type RunNow, runScheduleNow } from './workflow-client/schedules/run-now.js';
export {
  changeSchedule,
  type PutSchedule,
  type PutScheduleOptions,
  putSchedule,
  type ScheduleAddress,
  type ScheduleChange,
  scheduleNames,
} from './workflow-client/schedules/schedule-client.js';
export {
  type ScheduledWorkOptions,
  scheduledBatch,
  scheduledCleanup,
  scheduledJob,
} from './workflow-client/schedules/scheduled-work.js';
export { registerSearchAttributes } from './workflow-client/search-attributes.js';
export {
  type AwaitStopOptions,
  awaitStop,
  type StopRequestAddress,
  stopProgress,
  stopReport,
} from './workflow-client/stops/read-stops.js';
export { type RequestedStop, type RequestStopOptions, requestStop } from './workflow-client/stops/stop-client.js';
export type { StopOptions } from './workflow-client/stops/stop-input.js';
