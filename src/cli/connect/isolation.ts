/** Reads how a local service isolates its sandboxes. */
import { z } from 'zod';
import type { Config } from '../../config.js';
import { isLoopbackHost } from '../../contract/urls.js';
import { apiKeyOf } from '../../os/key-file.js';
import type { Notices } from '../output/reporter.js';
import { answerText } from './answer-text.js';

const timeoutMs = 5_000;

const isolationSchema = z.object({
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

const answerSchema = z.object({ isolation: isolationSchema });

type Service = NonNullable<Config['sandboxService']>;

/** What a service reports about the isolation of its sandboxes. */
export interface SaidIsolation {
  /** Null if the service is not a local one, or does not report its isolation. */
  readonly known: SandboxIsolation | null;
  /** Why a service that may be local did not report its isolation; null if it did, or if the service is remote. */
  readonly problem: string | null;
}

const attempts = 2;
const nothingToAsk: SaidIsolation = { known: null, problem: null };

/**
 * Reads the isolation from a service that may be local. Does not ask a service on another host that is reached by
 * `https`. Tries twice, because the machine may be busy. Never throws.
 */
export async function readIsolation(service: Service): Promise<SaidIsolation> {
  let problem = '';
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    try {
      return await ask(service);
    } catch (error) {
      problem = error instanceof z.ZodError ? 'its response does not match this version' : reasonOf(error);
    }
  }
  return {
    known: null,
    problem: `Cannot read how the service at ${service.apiUrl} isolates its sandboxes: ${problem}.`,
  };
}

async function ask(service: Service): Promise<SaidIsolation> {
  const url = new URL('/_local/isolation', service.apiUrl);
  if (url.protocol !== 'http:' && !isLoopbackHost(url.hostname)) return nothingToAsk;
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${await apiKeyOf(service)}` },
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (response.status === 404) return nothingToAsk;
  if (!response.ok) throw new Error(`it returned ${response.status}`);
  return { known: answerSchema.parse(JSON.parse(await answerText(response))).isolation, problem: null };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Warnings are shown even when quiet. */
export function sayIsolation({ known, problem }: SaidIsolation, reporter: Notices): void {
  if (problem !== null) reporter.notice(problem);
  if (known === null) return;
  reporter.notice(`Sandbox isolation: ${known.text}.`, 'detail');
  for (const warning of known.warnings) reporter.notice(warning);
}
