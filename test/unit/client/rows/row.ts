import type { SandboxClient } from '../../../../src/client/index.js';

/** One call of a method, and the request that it must send. */
export interface Row {
  /** @param to the target of a download */
  readonly call: (client: SandboxClient, to: string) => Promise<unknown>;
  readonly sends: string;
  readonly body?: unknown;
  /** The header that confirms a delete. */
  readonly confirms?: string;
  /** The answer without its envelope; undefined for bytes. */
  readonly answer?: Record<string, unknown>;
}

export const id = 'bx_23456789';
