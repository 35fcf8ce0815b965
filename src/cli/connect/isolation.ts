/** Asks a local service how it isolates its sandboxes. Of another service nothing is known, and nothing is asked. */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { Config } from '../../config.js';
import type { Reporter } from '../output/reporter.js';

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
  text: z.string(),
  warnings: z.array(z.string()),
});

/** As `isolation` of `--json` has it. */
export type SandboxIsolation = z.infer<typeof isolationSchema>;

const answerSchema = z.object({ isolation: isolationSchema });

type Service = NonNullable<Config['sandboxService']>;

/** Null where the service is no local one, or does not say. Never throws. */
export async function readIsolation(service: Service): Promise<SandboxIsolation | null> {
  try {
    if (!isLoopback(new URL(service.apiUrl).hostname)) return null;
    const { apiKey, apiKeyFile } = service;
    const key = apiKeyFile === undefined ? apiKey : (await readFile(apiKeyFile, 'utf8')).trim();
    const response = await fetch(new URL('/_local/isolation', service.apiUrl), {
      headers: { authorization: `Bearer ${key}` },
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    return answerSchema.parse(await response.json()).isolation;
  } catch {
    return null;
  }
}

/** What is not as it should be is said also when quiet. */
export function sayIsolation(isolation: SandboxIsolation | null, reporter: Pick<Reporter, 'notice'>): void {
  if (isolation === null) return;
  reporter.notice(`Isolation of sandboxes: ${isolation.text}.`, 'detail');
  for (const warning of isolation.warnings) reporter.notice(warning);
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname);
}
