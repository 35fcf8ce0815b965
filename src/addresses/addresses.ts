/**
 * The name of a sandbox is also its address: a pure function computes from it the id of the workflow that owns the
 * sandbox. A webhook carries the name, so it reaches its workflow directly, without a lookup.
 *
 *     sf-<deployment>-<jobId>-<execution>-<step>-<generation>
 *
 * A name has at most 63 characters of `a-z0-9-`. A job id may hold dashes. `deployment`, `execution` and `step` hold
 * none, so the name can be parsed unambiguously from both ends. The name of a batch's fork holds the id and execution
 * of the batch, and the item as its step.
 *
 * No dependencies: workflow code imports this file.
 */

const namePrefix = 'sf';
const maxNameLength = 63;
const executionLength = 12;
const maxStepLength = 6;
const maxGenerationLength = 3;

/** The number of characters for deployment and job id together, if every other part has its greatest length. */
export const maxDeploymentAndJobIdLength =
  maxNameLength - namePrefix.length - executionLength - maxStepLength - maxGenerationLength - 5;

const deploymentPattern = /^[a-z0-9]{1,12}$/;
const jobIdPattern = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const stepPattern = /^[a-z0-9]{1,6}$/;
/** `i` and the index of the item in base 36. Five digits are enough for 60 million items. */
const itemStepPattern = /^i[0-9a-z]{1,5}$/;
const namePattern = /^sf-([a-z0-9]{1,12})-([a-z0-9]+(?:-[a-z0-9]+)*)-([0-9a-f]{12})-([a-z0-9]{1,6})-([1-9][0-9]{0,2})$/;

/** The parts of the name of a sandbox that a job created. */
export interface OwnedName {
  /** 1 to 12 characters of `a-z0-9`. */
  readonly deployment: string;
  /** Id of the job or, for a fork, of its batch. */
  readonly jobId: string;
  /** The last 12 hex digits of the first run id of the owner's execution chain. */
  readonly execution: string;
  /** Step of the job, or the item of a batch; 1 to 6 characters of `a-z0-9`. */
  readonly step: string;
  /** 1 for the first attempt. It grows by 1 after each create or fork that became `cancelled`. */
  readonly generation: number;
}

/** Why `deployment` cannot be a deployment's name, or undefined when it can. */
export function deploymentProblem(deployment: string): string | undefined {
  if (deploymentPattern.test(deployment)) return undefined;
  return `the deployment "${deployment}" must be 1 to 12 characters of a-z and 0-9`;
}

/** Why `jobId` cannot name a job or a batch of `deployment`: what follows `the job id`. Undefined when it can. */
export function jobIdProblem(deployment: string, jobId: string): string | undefined {
  const longest = maxDeploymentAndJobIdLength - deployment.length;
  if (jobId.length > longest) {
    return `"${jobId.slice(0, 80)}" has ${jobId.length} characters, but the maximum is ${longest}`;
  }
  return jobIdShapeProblem(jobId);
}

/** Why `jobId` cannot name a job of any deployment, like `jobIdProblem`. Undefined if its length decides. */
export function jobIdShapeProblem(jobId: string): string | undefined {
  if (jobIdPattern.test(jobId)) return undefined;
  return `"${jobId.slice(0, 80)}" must be lower-case letters and digits, with single dashes between them`;
}

/**
 * The workflow id of a job.
 * @example
 * const execution = await client.workflow.getHandle(jobWorkflowId('default', 'fix-1')).describe();
 */
export function jobWorkflowId(deployment: string, jobId: string): string {
  return `${namePrefix}-${deployment}-${jobId}`;
}

/** The job id in a workflow id. Undefined if the workflow belongs to another deployment or is a part of a batch. */
export function jobIdOfWorkflow(deployment: string, workflowId: string): string | undefined {
  const prefix = `${namePrefix}-${deployment}-`;
  return workflowId.startsWith(prefix) && !workflowId.includes('/') ? workflowId.slice(prefix.length) : undefined;
}

/** The deployment in the workflow id of a job, a batch or a part of one. Undefined for other workflow ids. */
export function deploymentOfWorkflow(workflowId: string): string | undefined {
  return /^sf-([a-z0-9]{1,12})-/.exec(workflowId)?.[1];
}

/**
 * The `execution` part for an execution chain. It is the end of a v7 UUID. The beginning is a time, which two
 * executions can share.
 */
export function executionOf(firstExecutionRunId: string): string {
  return firstExecutionRunId.replaceAll('-', '').slice(-executionLength);
}

/**
 * The name of a sandbox that a job creates.
 * @throws RangeError when a part is outside the grammar
 */
export function ownedSandboxName(parts: OwnedName): string {
  const { deployment, jobId, execution, step, generation } = parts;
  const name = `${namePrefix}-${deployment}-${jobId}-${execution}-${step}-${generation}`;
  const read = parseOwnedSandboxName(name);
  // If a part contained a dash, the name could be parsed as the name of another job.
  const same = read?.deployment === deployment && read.jobId === jobId && read.execution === execution;
  if (!same || !stepPattern.test(step)) {
    throw new RangeError(`"${name}" is not a valid sandbox name`);
  }
  return name;
}

/** Parses the name of a sandbox. Undefined if no job of any deployment can have given the name. */
export function parseOwnedSandboxName(name: string): OwnedName | undefined {
  if (name.length > maxNameLength) return undefined;
  const match = namePattern.exec(name);
  if (!match) return undefined;
  const [, deployment = '', jobId = '', execution = '', step = '', generation = ''] = match;
  return { deployment, jobId, execution, step, generation: Number(generation) };
}

/** The step for an item of a batch in the names of its forks. */
export function itemStep(index: number): string {
  return `i${index.toString(36)}`;
}

/** The workflow id of an item. No job id holds a slash, so the id never equals that of a job. */
export function itemWorkflowId(deployment: string, batchId: string, index: number): string {
  return `${jobWorkflowId(deployment, batchId)}/${itemStep(index)}`;
}

/** The place of an item in its batch, from its workflow id. Undefined if the workflow is not that of an item. */
export function itemIndexOf(workflowId: string): number | undefined {
  const step = workflowId.slice(workflowId.indexOf('/') + 1);
  return itemStepPattern.test(step) ? Number.parseInt(step.slice(1), 36) : undefined;
}

/**
 * True if the bridge sends an event to the workflow that owns the sandbox. Every fork of a batch hydrates, and few items
 * wait for that: these use the watch, because a signal costs four events.
 */
export function isSentToOwner(eventType: string, ownerId: string): boolean {
  return eventType !== 'sandbox.hydrated' || itemIndexOf(ownerId) === undefined;
}

/** The step in the name of the sandbox that a batch prepares. No item has this step, because those begin with `i`. */
export const prepareStep = 'prep';

/** The same for a source that only some of the chunks name. @param number the first of these chunks, below 1,000 */
export function sourceStep(number: number): string {
  return `p${number.toString(36)}`;
}

/** Shorter than `prepareStep`. */
const sourceStepPattern = /^p[0-9a-z]{1,2}$/;

/** The workflow id of the job that prepares a source of a batch. */
export function prepareWorkflowId(deployment: string, batchId: string, step: string = prepareStep): string {
  return `${jobWorkflowId(deployment, batchId)}/${step}`;
}

/** The id of the workflow that owns the sandbox with this name. Undefined if no workflow owns it. */
export function ownerWorkflowId(sandboxName: string): string | undefined {
  const parts = parseOwnedSandboxName(sandboxName);
  if (!parts) return undefined;
  const { step } = parts;
  const job = jobWorkflowId(parts.deployment, parts.jobId);
  const isOfBatch = itemStepPattern.test(step) || step === prepareStep || sourceStepPattern.test(step);
  return isOfBatch ? `${job}/${step}` : job;
}

/** The id of the workflow that follows the stops of this sandbox. */
export function sandboxStopId(sandboxId: string): string {
  return `sandbox-stop/${sandboxId}`;
}

/**
 * The id of the workflow that relays events of this sandbox to workflows that do not own it, and holds their leases.
 */
export function sandboxWatchId(sandboxId: string): string {
  return `sandbox-watch/${sandboxId}`;
}

/** The id of the workflow that follows the long prompts of all jobs of a task queue. */
export function promptFollowerId(taskQueue: string): string {
  return `prompt-follower/${taskQueue}`;
}

/**
 * The id prefix of workflows that deliver the notifications of a workflow. `notify/` comes first, so that a list by the
 * prefix of that workflow leaves them out.
 */
export function notificationPrefix(workflowId: string): string {
  return `notify/${workflowId}`;
}

/** The prefix of the workflow ids of a deployment's cleanups. */
export function cleanupPrefix(deployment: string): string {
  return `cleanup/${deployment}/`;
}

/** The id of the schedule of a cleanup policy. The workflow id of each run is this id with a time appended. */
export function cleanupId(deployment: string, policyName: string): string {
  return `${cleanupPrefix(deployment)}${policyName}`;
}

/** The id of the schedule that announces with which keys a deployment encrypts. The schedule is always paused. */
export function encryptionScheduleId(deployment: string): string {
  return `encryption/${deployment}`;
}

/**
 * Activities that follow progress have their own task queue, so that they never take the slots of stops and creates.
 */
export function followTaskQueue(taskQueue: string): string {
  return `${taskQueue}-follow`;
}

/** Creates and forks of batches have their own task queue. All workers share its rate. */
export function forkTaskQueue(taskQueue: string): string {
  return `${taskQueue}-fork`;
}

/** Deliveries have their own task queue, so that a URL that hangs delays no other call. */
export function notifyTaskQueue(taskQueue: string): string {
  return `${taskQueue}-notify`;
}

/**
 * Temporal's name for the workers of a task queue, which share their versions. Another name for each queue, without dots
 * and colons: these separate the name from the build in Temporal's texts.
 */
export function workerDeploymentName(taskQueue: string): string {
  return taskQueue.replace(/[^A-Za-z0-9-]/g, (character) => `_${character.codePointAt(0)?.toString(16)}_`);
}

const buildIdForm = /^[\w.-]{1,128}$/;

/** Says what is wrong with the version of a worker, as the end of a message; undefined if nothing is. */
export function buildIdProblem(buildId: string): string | undefined {
  if (buildIdForm.test(buildId)) return undefined;
  return 'must be 1 to 128 letters, digits, dots, hyphens and underscores, like 1.4.2';
}
