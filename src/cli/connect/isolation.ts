/** How a local service isolates its sandboxes, and whether its settings have changed since it started, as it says itself. */
import { z } from 'zod';
import type { Notices } from '../output/reporter.js';

export const isolationSchema = z.object({
  isolation: z.enum(['bubblewrap', 'plain']),
  reason: z.string().optional(),
  network: z.object({
    kind: z.enum(['host', 'internet', 'none']),
    reason: z.string().optional(),
    wished: z.boolean(),
    allowHost: z.array(z.string()),
  }),
  limits: z.object({
    memory: z.enum(['sandbox', 'process', 'none']),
    processes: z.enum(['sandbox', 'command', 'none']),
  }),
  /** Older services do not report this field. */
  lacks: z.array(z.string()).default([]),
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
  /** That the file of its settings has changed since the service started, and what to do; null if it has not. */
  readonly changedSettings: string | null;
}

/** Warnings are shown even when quiet. */
export function sayIsolation({ known, problem, changedSettings }: SaidIsolation, reporter: Notices): void {
  if (problem !== null) reporter.notice(problem);
  if (changedSettings !== null) reporter.notice(changedSettings);
  if (known === null) return;
  reporter.notice(`Sandbox isolation: ${known.text}.`, 'detail');
  for (const warning of known.warnings) reporter.notice(warning);
}
