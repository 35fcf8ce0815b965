/** How a local service isolates its sandboxes, as it says itself. */
import { z } from 'zod';
import type { Notices } from './reporter.js';

export const isolationSchema = z.object({
  isolation: z.enum(['bubblewrap', 'plain']),
  reason: z.string().optional(),
  network: z.object({
    kind: z.enum(['host', 'internet', 'none']),
    reason: z.string().optional(),
    mend: z.string().optional(),
    wished: z.boolean(),
    allowHost: z.array(z.string()),
  }),
  limits: z.object({
    memory: z.enum(['sandbox', 'process', 'none']),
    processes: z.enum(['sandbox', 'none']),
  }),
  lacks: z.array(z.string()),
  text: z.string(),
  warnings: z.array(z.string()),
});

/** The field `isolation` of `--json`. */
export type SandboxIsolation = z.infer<typeof isolationSchema>;

/** What a service reports about the isolation of its sandboxes. */
export interface SaidIsolation {
  /** Null if the service is not a local one, or does not report its isolation. */
  readonly known: SandboxIsolation | null;
  /** Why a service that may be local did not report its isolation; null if it did, or if the service is remote. */
  readonly problem: string | null;
}

/** Warnings are shown even when quiet. */
export function sayIsolation({ known, problem }: SaidIsolation, reporter: Notices): void {
  if (problem !== null) reporter.notice(problem);
  if (known === null) return;
  reporter.notice(`Sandbox isolation: ${known.text}.`, 'detail');
  for (const warning of known.warnings) reporter.notice(warning);
}
