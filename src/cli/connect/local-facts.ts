/** Reads what a local service says of itself: how it isolates its sandboxes, its clock, and if its settings changed. */

import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import type { Config } from '../../config.js';
import { apiKeyOf } from '../../os/key-file.js';
import { isLoopbackHost } from '../../texts/urls.js';
import { isolationSchema, type SaidIsolation, sayIsolation } from '../output/isolation.js';
import type { Notices } from '../output/reporter.js';
import { programName } from '../program-name.js';
import { readWhole } from './answer-text.js';
import type { LocalClock } from './local-clock.js';

const timeoutMs = 5_000;
const restarts = `That is \`${programName} down && ${programName} up\`, or another start of \`${programName} local\`.`;

const answerSchema = z.object({
  isolation: isolationSchema,
  clock: z.object({ now: z.iso.datetime(), held: z.boolean() }),
  changedSettings: z.string().nullable(),
});

type Service = NonNullable<Config['sandboxService']>;

export interface LocalFacts {
  readonly isolation: SaidIsolation;
  /** Null if the service is not a local one, or did not answer. */
  readonly clock: LocalClock | null;
  /** That the file of its settings has changed since the service started; null if it has not, or if that is unknown. */
  readonly changedSettings: string | null;
}

const attempts = 2;
const unknown = { clock: null, changedSettings: null };
const nothingToAsk: LocalFacts = { isolation: { known: null, problem: null }, ...unknown };

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
      const said = error instanceof Error ? error.message : String(error);
      why = error instanceof z.ZodError ? 'its response does not match this version' : said;
    }
  }
  const problem = `Cannot read how the service at ${service.apiUrl} isolates its sandboxes: ${why}.`;
  return { isolation: { known: null, problem }, ...unknown };
}

async function ask(service: Service): Promise<LocalFacts> {
  const url = new URL('/_local/facts', service.apiUrl);
  if (url.protocol !== 'http:' && !isLoopbackHost(url.hostname)) return nothingToAsk;
  const headers = { authorization: `Bearer ${await apiKeyOf(service)}` };
  const beforeMs = Date.now();
  const response = await get(url, headers);
  const middleMs = (beforeMs + Date.now()) / 2;
  const { statusCode = 0 } = response;
  if (statusCode !== 200) response.destroy();
  if (statusCode === 404) return nothingToAsk;
  if (statusCode !== 200) throw new Error(`it returned ${statusCode}`);
  const { isolation, clock, changedSettings } = answerSchema.parse(JSON.parse((await readWhole(response)).toString()));
  return {
    isolation: { known: isolation, problem: null },
    clock: { ...clock, aheadMs: Date.parse(clock.now) - middleMs },
    changedSettings: changedSettings && `${changedSettings} ${restarts}`,
  };
}

/** `fetch` would load Node's whole HTTP client for this one read. It follows no redirect. */
async function get(url: URL, headers: Readonly<Record<string, string>>): Promise<IncomingMessage> {
  const { get: ask } = await import(url.protocol === 'http:' ? 'node:http' : 'node:https');
  return new Promise((resolve, reject) => {
    const options = { headers, agent: false, signal: AbortSignal.timeout(timeoutMs) };
    ask(url, options, resolve).on('error', reject);
  });
}

/** Prints all of it but the clock. Warnings are shown even when quiet. */
export function sayLocalFacts(
  { isolation, changedSettings }: Pick<LocalFacts, 'isolation' | 'changedSettings'>,
  reporter: Notices,
): void {
  if (changedSettings !== null) reporter.notice(changedSettings);
  sayIsolation(isolation, reporter);
}
