import type { SandboxClient } from '../../../src/client/index.js';

/** One call of a method, and what it must send. */
export interface Row {
  /** @param to where a download goes */
  readonly call: (client: SandboxClient, to: string) => Promise<unknown>;
  readonly sends: string;
  readonly body?: unknown;
  /** The header that confirms a delete. */
  readonly confirms?: string;
  /** The answer beside its envelope; undefined where it is bytes. */
  readonly answer?: Record<string, unknown>;
}

export const id = 'bx_23456789';
