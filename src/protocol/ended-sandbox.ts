/** How a job ended a sandbox, as its memo tells. No dependencies: workflow code imports this file. */

/** `left`: the job did not end it as it should have, so an earlier job's end still counts. */
export type SandboxEnding = 'kept' | 'stopped' | 'deleted' | 'left';

export interface EndedSandbox {
  /** The name that the job gave to it; null for a sandbox that the job was given. */
  readonly name: string | null;
  readonly end: SandboxEnding;
  /** When the job ended it, in ms since the epoch. The job itself may have closed later. */
  readonly endedAtMs: number;
}

const prefix = 'sandbox/';

/**
 * The key of a memo that holds how a job ended this sandbox. The id is in the key, so that a value that cannot be read
 * casts doubt on this sandbox only.
 */
export function endedKey(sandboxId: string): string {
  return `${prefix}${sandboxId}`;
}

/** The id of the sandbox that a key of a memo is about. Undefined for another key. */
export function endedSandboxId(key: string): string | undefined {
  return key.startsWith(prefix) ? key.slice(prefix.length) : undefined;
}
