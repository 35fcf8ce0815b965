/**
 * The name is the address: from the name of a sandbox one pure function computes the workflow that owns it, so that a
 * webhook, which carries the name, reaches its workflow in one hop and with no lookup.
 *
 *     sf-<deployment>-<jobId>-<execution>-<step>-<generation>
 *
 * Only `a-z0-9-`, at most 63 characters. `deployment`, `execution` and `step` hold no dash, so the name reads
 * unambiguously from both ends while a job id may hold dashes. A fork of a batch has the batch's id in place of a job's,
 * the batch's execution, and the item as its step.
 *
 * No dependencies: workflow code imports this file.
 */

const namePrefix = 'sf';
const maxNameLength = 63;
const executionLength = 12;
const maxStepLength = 6;
const maxGenerationLength = 3;

/** What is left for deployment and job id together when every other part is at its longest. */
export const maxDeploymentAndJobIdLength =
  maxNameLength - namePrefix.length - executionLength - maxStepLength - maxGenerationLength - 5;

const deploymentPattern = /^[a-z0-9]{1,12}$/;
const jobIdPattern = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const stepPattern = /^[a-z0-9]{1,6}$/;
/** `i` and the item's place in the batch, in base 36. Five digits hold 60 million items. */
const itemStepPattern = /^i[0-9a-z]{1,5}$/;
const namePattern = /^sf-([a-z0-9]{1,12})-([a-z0-9]+(?:-[a-z0-9]+)*)-([0-9a-f]{12})-([a-z0-9]{1,6})-([1-9][0-9]{0,2})$/;

/** The parts of the name of a sandbox that a job made. */
export interface OwnedName {
  /** 1 to 12 characters of `a-z0-9`. */
  readonly deployment: string;
  /** Id of the job or, for a fork, of its batch. */
  readonly jobId: string;
  /** The last 12 hex digits of the first run id of the owner's execution chain. */
  readonly execution: string;
  /** Step of the job, or the item of a batch; 1 to 6 characters of `a-z0-9`. */
  readonly step: string;
  /** 1 for the first attempt; the next one after a create or fork that became `cancelled`. */
  readonly generation: number;
}

/** Why `deployment` cannot be a deployment's name, or undefined when it can. */
export function deploymentProblem(deployment: string): string | undefined {
  if (deploymentPattern.test(deployment)) return undefined;
  return `the deployment "${deployment}" must be 1 to 12 characters of a-z and 0-9`;
}

/** Why `jobId` cannot name a job of `deployment`, or undefined when it can. */
export function jobIdProblem(deployment: string, jobId: string): string | undefined {
  const longest = maxDeploymentAndJobIdLength - deployment.length;
  if (jobId.length > longest) {
    return `the job id "${jobId.slice(0, 80)}" has ${jobId.length} characters, the most is ${longest}`;
  }
  if (!jobIdPattern.test(jobId)) {
    return `the job id "${jobId}" must be lower-case letters and digits, with single dashes between them`;
  }
  return undefined;
}

/** The workflow id of a job. */
export function jobWorkflowId(deployment: string, jobId: string): string {
  return `${namePrefix}-${deployment}-${jobId}`;
}

/** The job id in a workflow id of `deployment`, or undefined if it is another's or a part of a batch. */
export function jobIdOfWorkflow(deployment: string, workflowId: string): string | undefined {
  const prefix = `${namePrefix}-${deployment}-`;
  return workflowId.startsWith(prefix) && !workflowId.includes('/') ? workflowId.slice(prefix.length) : undefined;
}

/** The `execution` part for an execution chain. The head of a v7 UUID is a clock and collides; its tail does not. */
export function executionOf(firstExecutionRunId: string): string {
  return firstExecutionRunId.replaceAll('-', '').slice(-executionLength);
}

/**
 * The name of a sandbox that a job makes.
 * @throws RangeError when a part is outside the grammar
 */
export function ownedSandboxName(parts: OwnedName): string {
  const { deployment, jobId, execution, step, generation } = parts;
  const name = `${namePrefix}-${deployment}-${jobId}-${execution}-${step}-${generation}`;
  const read = parseOwnedSandboxName(name);
  // A part with a dash of its own could read back as another job's name.
  const same = read?.deployment === deployment && read.jobId === jobId && read.execution === execution;
  if (!same || !stepPattern.test(step)) {
    throw new RangeError(`"${name}" is outside the grammar of sandbox names`);
  }
  return name;
}

/** Reads a sandbox's name; undefined when no job of any deployment gave it. */
export function parseOwnedSandboxName(name: string): OwnedName | undefined {
  if (name.length > maxNameLength) return undefined;
  const match = namePattern.exec(name);
  if (!match) return undefined;
  const [, deployment = '', jobId = '', execution = '', step = '', generation = ''] = match;
  return { deployment, jobId, execution, step, generation: Number(generation) };
}

/** The step that stands for an item of a batch in the names of its forks. */
export function itemStep(index: number): string {
  return `i${index.toString(36)}`;
}

/** The workflow of an item. The slash, which no job id holds, keeps items apart from jobs. */
export function itemWorkflowId(deployment: string, batchId: string, index: number): string {
  return `${jobWorkflowId(deployment, batchId)}/${itemStep(index)}`;
}

/** The step in the name of the sandbox that a batch prepares. No item's step begins like it. */
export const prepareStep = 'prep';

/** The workflow of the job that prepares the source of a batch. */
export function prepareWorkflowId(deployment: string, batchId: string): string {
  return `${jobWorkflowId(deployment, batchId)}/${prepareStep}`;
}

/** The workflow that owns the sandbox of this name, or undefined. */
export function ownerWorkflowId(sandboxName: string): string | undefined {
  const parts = parseOwnedSandboxName(sandboxName);
  if (!parts) return undefined;
  const job = jobWorkflowId(parts.deployment, parts.jobId);
  const isOfBatch = itemStepPattern.test(parts.step) || parts.step === prepareStep;
  return isOfBatch ? `${job}/${parts.step}` : job;
}

/** The workflow that follows the stops of this sandbox. */
export function sandboxStopId(sandboxId: string): string {
  return `sandbox-stop/${sandboxId}`;
}

/** The workflow that relays events of this sandbox to workflows that do not own it, and holds their leases. */
export function sandboxWatchId(sandboxId: string): string {
  return `sandbox-watch/${sandboxId}`;
}

/** The workflows that deliver notifications of a workflow. A prefix, so that lists of its own workflows leave them out. */
export function notificationPrefix(workflowId: string): string {
  return `notify/${workflowId}`;
}

/** The workflow ids of the cleanups of a deployment begin with this. */
export function cleanupPrefix(deployment: string): string {
  return `cleanup/${deployment}/`;
}

/** What makes the runs of one policy: its schedule has this id, and each run has it with a time behind it. */
export function cleanupId(deployment: string, policyName: string): string {
  return `${cleanupPrefix(deployment)}${policyName}`;
}

/** The schedule, always paused, that says with which keys a deployment encrypts. */
export function encryptionScheduleId(deployment: string): string {
  return `encryption/${deployment}`;
}

/** Follows have a task queue of their own, so that they never take the slots of stops and creates. */
export function followTaskQueue(taskQueue: string): string {
  return `${taskQueue}-follow`;
}

/** Creates and forks of batches have a task queue of their own, whose rate all workers share. */
export function forkTaskQueue(taskQueue: string): string {
  return `${taskQueue}-fork`;
}

/** Deliveries have a task queue of their own: a URL that hangs holds up no other call. */
export function notifyTaskQueue(taskQueue: string): string {
  return `${taskQueue}-notify`;
}
