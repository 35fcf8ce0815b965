/**
 * Sandbox states and what each of them allows (specification, "States and transitions").
 * No dependencies: workflow code imports this file.
 */

export const sandboxStates = [
  'init',
  'provisioning',
  'provisioned',
  'cloning',
  'ready',
  'idle',
  'running',
  'archiving',
  'archived',
  'error',
  'cancelled',
] as const;
/** A listed state of a sandbox. */
export type SandboxState = (typeof sandboxStates)[number];

const usable: ReadonlySet<string> = new Set(['ready', 'idle', 'running']);
const creating: ReadonlySet<string> = new Set(['init', 'provisioning', 'provisioned', 'cloning']);

const listed: ReadonlySet<string> = new Set(sandboxStates);

/** False for a state that a later version of the service may have. */
export function isListed(state: string): state is SandboxState {
  return listed.has(state);
}

/** A usable sandbox accepts prompts, commands and file access. Unknown states are not usable. */
export function isUsable(state: string): boolean {
  return usable.has(state);
}

/** True while the sandbox is still being created. */
export function isCreating(state: string): boolean {
  return creating.has(state);
}

/** Statuses of a prompt (specification, "States and transitions"). */
export const promptStatuses = ['queued', 'running', 'completed', 'failed', 'interrupted'] as const;
/** A listed status of a prompt. */
export type PromptStatus = (typeof promptStatuses)[number];

/** True for a status in which a prompt never changes again. */
export function isFinalPromptStatus(status: string): boolean {
  return status === 'completed' || status === 'failed' || status === 'interrupted';
}

/** The events of a history that end a prompt, and the statuses that they give it. Assumption: `A-events`. */
export const endStatuses: Readonly<Record<string, string>> = {
  'prompt.completed': 'completed',
  'prompt.failed': 'failed',
  'prompt.interrupted': 'interrupted',
};

/** Statuses of a deletion. Assumption: `A-deletion-operation`. */
export const deletionStatuses = ['pending', 'running', 'completed', 'failed'] as const;

/** Statuses of a stop (specification, "States and transitions"). */
export const stopStatuses = ['pending', 'failing', 'completed', 'superseded'] as const;
/** A listed status of a stop. */
export type StopStatus = (typeof stopStatuses)[number];

/** True if the service still works on the stop, or repeats it. */
export function isOpenStop(stop: { readonly status: string } | null | undefined): boolean {
  return stop?.status === 'pending' || stop?.status === 'failing';
}

/** True if an attempt of the stop has ended and the stop has not: the attempt failed, although it may be repeated now. */
export function hasFailedAttempt(
  stop: { readonly status: string; readonly lastAttemptAt?: string | null | undefined } | null,
): boolean {
  return isOpenStop(stop) && (stop?.status === 'failing' || stop?.lastAttemptAt != null);
}

/** The lifecycle events that the service pushes (specification, "Event types"). */
export const sandboxEventTypes = ['sandbox.ready', 'sandbox.hydrated', 'sandbox.error', 'sandbox.archived'] as const;
/** A listed event type. */
export type SandboxEventType = (typeof sandboxEventTypes)[number];

/**
 * A lifecycle event of a sandbox, as the bridge sends it. It may be wrong or out of date, so the receiver reads the
 * sandbox.
 */
export interface SandboxEvent {
  /** The event's id, the same for every delivery. Receivers drop duplicates. */
  readonly id: string;
  /** Event type (specification, "Event types"). */
  readonly type: SandboxEventType;
  /** When the service created the event, as an ISO 8601 time. */
  readonly createdAt: string;
  readonly sandboxId: string;
  readonly sandboxName: string;
  /** State before the event; absent from `sandbox.hydrated`. */
  readonly previousState?: string;
  /** State after the event; absent from `sandbox.hydrated`. */
  readonly state?: string;
}
