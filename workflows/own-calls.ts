/**
 * The keys and names that calls of your own workflow need. With them, a retry, a crash or a reset creates no second
 * sandbox and sends no prompt twice. These functions do not call the service: pass their results to the activities.
 */
import { ApplicationFailure, ParentClosePolicy, WorkflowIdReusePolicy, workflowInfo } from '@temporalio/workflow';
import type { SendPromptInput } from '../activities/prompt/send.js';
import type { KeyedCall } from '../activities/retry/keyed-create.js';
import {
  executionOf,
  jobWorkflowId,
  type OwnedName,
  ownedSandboxName,
  ownerWorkflowId,
} from '../src/addresses/addresses.js';
import type { SandboxView } from '../src/contract/workflow-safe/sandbox-view.js';
import type { JobInput, NewJob, PromptStep } from '../src/protocol/job/job-input.js';
import { defaultEnd, jobSettingsWith } from '../src/protocol/job/job-settings-with.js';
import { taskPriority } from '../src/protocol/job/task-priority.js';

/** The fields that `createSandbox` and `forkSandbox` need in addition to the body of the request. */
export interface OwnSandboxCall extends Omit<KeyedCall, 'name'> {
  /** The same for every attempt; different for every workflow, step and generation. */
  readonly idempotencyKey: string;
}

/** The identity of a sandbox that your workflow creates. */
export interface OwnSandboxKey {
  /** Unique. It is the address of your workflow, which receives the sandbox's events as `sandboxEvent` signals. */
  readonly name: string;
  /** Spread it into the input of `createSandbox` or `forkSandbox`. */
  readonly call: OwnSandboxCall;
}

const workflowIdPattern = /^sf-([a-z0-9]{1,12})-(.+)$/;

/**
 * Makes the name and the keys of one create or fork. Call it once for each, right before its first attempt, and use the
 * result for every attempt, also after continue-as-new.
 *
 * @param step names the create within the workflow: 1 to 6 characters of `a-z0-9`; not `prep`, and not `i` with digits
 * @param options.generation 1 (the default) for the first sandbox of the step. Add one for each replacement, for
 * example when a sandbox became `cancelled`
 * @throws ApplicationFailure `bad_workflow_id` if the workflow's id is not `jobWorkflowId(deployment, id)`, or the step
 * is outside of its grammar
 */
export function ownSandbox(step: string, { generation = 1 } = {}): OwnSandboxKey {
  const { workflowId, firstExecutionRunId, startTime } = workflowInfo();
  const wasRunBefore = mayHaveRunBefore();
  return {
    name: nameOf(workflowId, { execution: executionOf(firstExecutionRunId), step, generation }),
    call: {
      idempotencyKey: `${firstExecutionRunId}-${step}-${generation}`,
      firstSentAtMs: wasRunBefore ? startTime.getTime() : Date.now(),
      lookFirst: wasRunBefore,
    },
  };
}

/** The prompt that `ownPrompt` identifies. */
export interface OwnPrompt extends PromptStep {
  /** The sandbox, as the last read or its create returned it. */
  readonly sandbox: Pick<SandboxView, 'id' | 'createdAt'>;
  /** False if others prompt in the same sandbox. Default: true. */
  readonly isOwnSandbox?: boolean;
  /** The conversation to continue. Default: a new one. */
  readonly conversationId?: string;
}

/**
 * Makes the input of `sendPrompt`, which sends the prompt at most once. Its result names the prompt and its
 * conversation.
 * @param step names the prompt within the workflow
 */
export function ownPrompt(
  step: string,
  { sandbox, isOwnSandbox = true, conversationId, ...prompt }: OwnPrompt,
): SendPromptInput {
  const { workflowId, firstExecutionRunId } = workflowInfo();
  return {
    query: {
      sandboxId: sandbox.id,
      conversationId: conversationId ?? null,
      knownPromptIds: [],
      knownConversationIds: [],
      provider: prompt.provider,
      model: prompt.model,
      recordKey: `${workflowId}/${firstExecutionRunId}/sent/${sandbox.id}/${step}`,
      isOwnSandbox,
      sandboxMadeAt: isOwnSandbox ? sandbox.createdAt : null,
    },
    body: { ...prompt, ...(conversationId === undefined ? { new: true } : { conversationId }) },
    earlier: mayHaveRunBefore() ? 'doubt' : 'ask_record',
  };
}

/**
 * Makes the options of a job as a child workflow, with the defaults of `startJob`:
 * `executeChild(createThenPrompt, ownJob({ deployment, jobId, prompts }))`. A job id is used once: a second start fails
 * with `WorkflowExecutionAlreadyStartedError`. If your workflow ends first, the job is cancelled, and ends its sandbox.
 * Unlike `startJob` it neither checks the input nor stores long texts: Temporal takes up to 2 MiB.
 */
export function ownJob({ deployment, jobId, source = { kind: 'create', body: {} }, ...settings }: NewJob) {
  const input = {
    deployment,
    jobId,
    source,
    ...jobSettingsWith({ ...settings, end: settings.end ?? defaultEnd(source) }),
  };
  return {
    workflowId: jobWorkflowId(deployment, jobId),
    args: [input] satisfies [JobInput] as [JobInput],
    workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
    parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    priority: taskPriority(input),
  };
}

/**
 * A name that no other execution uses. Use it for the keys of `createApiKey` and the webhooks of `createWebhook`, which
 * later attempts find by their names.
 * @param prefix what it is for; at most 80 characters
 */
export function ownName(prefix: string): string {
  return `${prefix}-${executionOf(workflowInfo().firstExecutionRunId)}`;
}

/** True after a reset and in a retried run: an earlier run may have made calls that this one does not know. */
function mayHaveRunBefore(): boolean {
  const { runId, originalExecutionRunId, attempt } = workflowInfo();
  return runId !== originalExecutionRunId || attempt > 1;
}

function nameOf(
  workflowId: string,
  parts: { readonly execution: string; readonly step: string; readonly generation: number },
): string {
  const [, deployment = '', jobId = ''] = workflowIdPattern.exec(workflowId) ?? [];
  const name = nameWithin({ deployment, jobId, ...parts });
  // Such names belong to the workflows of a batch.
  if (name !== undefined && ownerWorkflowId(name) === workflowId) return name;
  const mend = 'Start the workflow with the id jobWorkflowId(deployment, id), and name the step with a-z and 0-9.';
  throw ApplicationFailure.nonRetryable(
    `No name of a sandbox leads to "${workflowId}" with the step "${parts.step}". ${mend}`,
    'bad_workflow_id',
  );
}

/** Undefined if a part is outside the grammar of names. */
function nameWithin(parts: OwnedName): string | undefined {
  try {
    return ownedSandboxName(parts);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
