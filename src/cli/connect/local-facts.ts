/** Reads what a local service says of itself: how it isolates its sandboxes, its clock, and if its settings changed. */
import { z } from 'zod';
import type { Config } from '../../config.js';
import { isLoopbackHost } from '../../contract/urls.js';
import { apiKeyOf } from '../../os/key-file.js';
import { answerText } from './answer-text.js';
import { isolationSchema, type SaidIsolation } from './isolation.js';
import type { LocalClock } from './local-clock.js';

const timeoutMs = 5_000;

const answerSchema = z.object({
  isolation: isolationSchema,
  /** Older services do not report this field, nor the next one. */
  clock: z.object({ now: z.iso.datetime(), held: z.boolean() }).optional(),
  changedSettings: z.string().nullable().default(null),
});

type Service = NonNullable<Config['sandboxService']>;

export interface LocalFacts {
  readonly isolation: SaidIsolation;
  /** Null if the service is not a local one, or does not report its clock. */
  readonly clock: LocalClock | null;
}

const attempts = 2;
const nothingToAsk: LocalFacts = { isolation: { known: null, problem: null, changedSettings: null }, clock: null };

/**
 * Reads the facts from a service that may be local. Does not ask a service on another host that is reached by `https`.
 * Tries twice, because the machine may be busy. Never throws.
 */
export async function readLocalFacts(service: Service): Promise<LocalFacts> {
  let why = '';
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    try {
      return await ask(service);
    } catch (error) {
      why = error instanceof z.ZodError ? 'its response does not match this version' : reasonOf(error);
    }
  }
  const problem = `Cannot read how the service at ${service.apiUrl} isolates its sandboxes: ${why}.`;
  return { isolation: { known: null, problem, changedSettings: null }, clock: null };
}

async function ask(service: Service): Promise<LocalFacts> {
  const url = new URL('/_local/isolation', service.apiUrl);
  if (url.protocol !== 'http:' && !isLoopbackHost(url.hostname)) return nothingToAsk;
  const headers = { authorization: `Bearer ${await apiKeyOf(service)}` };
  const beforeMs = Date.now();
  const response = await fetch(url, { headers, redirect: 'error', signal: AbortSignal.timeout(timeoutMs) });
  const middleMs = (beforeMs + Date.now()) / 2;
  if (response.status === 404) return nothingToAsk;
  if (!response.ok) throw new Error(`it returned ${response.status}`);
  const { isolation, clock, changedSettings } = answerSchema.parse(JSON.parse(await answerText(response)));
  return {
    isolation: { known: isolation, problem: null, changedSettings },
    clock: clock === undefined ? null : { ...clock, aheadMs: Date.parse(clock.now) - middleMs },
  };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
