/** Compares the provider and the model that a service shows for a prompt with those that were requested. */
import type { SandboxClient } from '../../src/client/index.js';
import { isUnreadable } from '../../src/client/missing.js';
import type { SandboxHistoryEvent } from '../../src/contract/records/sandbox-records.js';
import { canonicalProvider } from '../../src/contract/requests/sandbox-requests.js';
import type { Attempt } from '../retry/attempt.js';

/** What was requested. An undefined field is chosen by the service, and is not compared. */
export interface Asked {
  readonly sandboxId: string;
  readonly provider?: string;
  readonly model?: string;
}

/** `unknown`: nothing is shown, or another name that may mean the same. */
type Fit = 'same' | 'unknown' | 'different';

/**
 * The only event that can be the requested prompt; null if none or several can be. If an event shows exactly what was
 * requested, the events whose fit is unknown do not count.
 */
export async function onlyAsAsked(
  events: readonly SandboxHistoryEvent[],
  asked: Asked,
  calling: { readonly client: SandboxClient; readonly attempt: Attempt; readonly timeoutMs: number },
): Promise<SandboxHistoryEvent | null> {
  const fitting: Record<Fit, SandboxHistoryEvent[]> = { same: [], unknown: [], different: [] };
  for (const event of events) fitting[await fitOf(event, asked, calling)].push(event);
  const [match, other] = fitting.same.length > 0 ? fitting.same : fitting.unknown;
  return match && !other ? match : null;
}

async function fitOf(
  event: SandboxHistoryEvent,
  { provider, model, sandboxId }: Asked,
  { client, attempt, timeoutMs }: Parameters<typeof onlyAsAsked>[2],
): Promise<Fit> {
  if (provider === undefined && model === undefined) return 'same';
  const { promptId } = event;
  const shown = { provider: event.data?.provider, model: event.data?.model };
  const isSilent = (provider !== undefined && shown.provider == null) || (model !== undefined && shown.model == null);
  if (isSilent && promptId != null) {
    try {
      const { prompt } = await attempt.call(() => client.getPrompt(sandboxId, promptId, { timeoutMs }));
      shown.provider ??= prompt.provider;
      shown.model ??= prompt.model;
    } catch (error) {
      // That prompts can be read by id is an assumption. A service may not support it.
      if (!isUnreadable(error)) throw error;
    }
  }
  const fits = [providerFit(provider, shown.provider), modelFit(model, shown.model)];
  if (fits.includes('different')) return 'different';
  return fits.includes('unknown') ? 'unknown' : 'same';
}

function providerFit(asked: string | undefined, shown: unknown): Fit {
  if (asked === undefined) return 'same';
  if (typeof shown !== 'string') return 'unknown';
  return canonicalProvider(asked) === canonicalProvider(shown) ? 'same' : 'different';
}

function modelFit(asked: string | undefined, shown: unknown): Fit {
  if (asked === undefined || asked === shown) return 'same';
  if (typeof shown !== 'string') return 'unknown';
  return isShortFor(asked, shown) || isShortFor(shown, asked) ? 'unknown' : 'different';
}

/**
 * True if the service may resolve the short name of a model to the other one, which adds a vendor or a family before it,
 * and versions or dates after it: `sonnet` and `claude-sonnet-4-20250514`. A name with another word after it, such as
 * `mini`, is another model.
 */
function isShortFor(short: string, long: string): boolean {
  const wordsOf = (name: string) => name.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const [words, all] = [wordsOf(short), wordsOf(long)];
  if (words.length === 0) return false;
  return all.some((_, at) => {
    const isThere = words.every((word, index) => all[at + index] === word);
    return isThere && all.slice(at + words.length).every((word) => /\d|^latest$|^preview$/.test(word));
  });
}
