/**
 * The library: start jobs and talk to them, run a worker, receive webhooks, call the service.
 *
 * Each area also has its own entry, such as `sandflow/client`, which loads nothing else. Use `sandflow/workflows` to
 * register the workflows in your own worker, and `sandflow/local-service` in tests.
 */
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
export type * from '../workflows/cleanup/types.js';
export type * from '../workflows/fanout/progress.js';
export type * from '../workflows/fanout/result.js';
export type * from '../workflows/fanout/types.js';
export type * from '../workflows/job/phases.js';
export type * from '../workflows/job/progress.js';
export type * from '../workflows/job/result.js';
export type * from '../workflows/job/types.js';
export type { Resolution, SandboxEvent } from '../workflows/messages.js';
export type {
  FailedArchivals,
  StopOutcome,
  StopReport,
  StopRequestView,
} from '../workflows/stop/types.js';
export * from './bridge/index.js';
export * from './client/index.js';
export { type Config, readConfig } from './config.js';
export { jobWorkflowId } from './contract/addresses.js';
export { type ErrorCode, type ErrorMeaning, errorCodes, errorMeaning } from './contract/errors/error-codes.js';
export { SandflowError } from './contract/errors/sandflow-error.js';
export * from './encryption/index.js';
export * from './notify/index.js';
export * from './result-store/index.js';
export { type CleanupPolicy, readPolicy } from './retention/index.js';
export * from './secret-store/index.js';
export { findTemporal } from './supervisor/find-temporal.js';
export {
  type CleanupHandle,
  type CleanupListed,
  cleanupHandle,
  cleanupProgress,
  listCleanups,
  type StartCleanupOptions,
  startCleanup,
} from './temporal/cleanups/client.js';
export {
  applyCleanupSchedule,
  type CleanupSchedule,
  type CleanupScheduleOptions,
  changeCleanupSchedule,
  listCleanupSchedules,
  type ScheduleChange,
  type ScheduledTime,
} from './temporal/cleanups/schedules.js';
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
export {
  cancelFanout,
  describeFanout,
  type FanoutAddress,
  fanoutProgress,
  type StartedFanout,
  type StartFanoutOptions,
  startFanout,
} from './temporal/fanouts/client.js';
export { fanoutInputSchema, fanoutPolicySchema, type NewFanout, parseFanoutInput } from './temporal/fanouts/input.js';
export { type ResumeFanoutOptions, resumeFanout } from './temporal/fanouts/resume.js';
export {
  type AwaitFanoutOptions,
  awaitFanout,
  type SubmitFanoutOptions,
  submitFanout,
} from './temporal/fanouts/submit.js';
export { addFanoutChunk, sealFanout } from './temporal/fanouts/updates.js';
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
} from './temporal/jobs/client.js';
export { jobInputSchema, type NewJob, parseJobInput } from './temporal/jobs/input.js';
export { type RerunJobOptions, rerunJob } from './temporal/jobs/rerun.js';
export type { Labels } from './temporal/labels.js';
export {
  type FanoutSummary,
  type JobSummary,
  type ListedWorkflow,
  type ListFanoutsOptions,
  type ListJobsOptions,
  listFanouts,
  listJobs,
} from './temporal/list.js';
export { type RequestedStop, type RequestStopOptions, requestStop } from './temporal/stops/client.js';
export type { StopOptions } from './temporal/stops/input.js';
export {
  type AwaitStopOptions,
  awaitStop,
  type StopRequestAddress,
  stopProgress,
  stopReport,
} from './temporal/stops/read.js';
export * from './webhook/index.js';
export * from './worker/index.js';
