/** Finds the sandbox or the snapshot that a source names. Pure. */
import type { FanoutSource } from '../../protocol/fanout/fanout-input.js';
import type { SandboxSource } from '../../protocol/job/job-input.js';

/** A sandbox or a snapshot that exists before the job, the batch or the stop starts. */
export type NamedSource =
  | { readonly kind: 'sandbox'; readonly sandboxId: string; readonly use: 'work' | 'fork' | 'stop' }
  | { readonly kind: 'snapshot'; readonly name: string };

/** @returns null if the source names no sandbox or snapshot that must exist */
export function namedSourceOf(source: SandboxSource | FanoutSource): NamedSource | null {
  switch (source.kind) {
    case 'existing':
      return { kind: 'sandbox', sandboxId: source.sandboxId, use: 'work' };
    case 'fork':
    case 'sandbox':
      return { kind: 'sandbox', sandboxId: source.sandboxId, use: 'fork' };
    case 'snapshot':
      return { kind: 'snapshot', name: source.from };
    case 'create':
    case 'prepare':
      return source.body.from === undefined ? null : { kind: 'snapshot', name: source.body.from };
  }
}
