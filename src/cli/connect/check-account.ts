/**
 * Asks the service, before anything is paid, whether it has the provider, the model and the effort that the user names,
 * and whether as many sandboxes may run at once.
 */
import type { CallOptions, SandboxClient } from '../../client/index.js';
import type { ProviderModels } from '../../contract/records/sandbox-records.js';
import { canonicalProvider } from '../../contract/requests/sandbox-requests.js';
import type { Notices } from '../output/reporter.js';
import { oneLine } from '../output/terminal-safe.js';
import { UsageError } from '../usage-error.js';

const timeoutMs = 10_000;

/** What the options name; each prompt runs with one of each list. */
export interface WantedModels {
  readonly providers: readonly string[];
  readonly models: readonly string[];
  readonly efforts: readonly string[];
}

export interface CheckAccountOptions {
  readonly service: Pick<SandboxClient, 'listProviderModels' | 'getLimits'>;
  /** Ctrl-C. */
  readonly signal: AbortSignal;
  readonly notices: Notices;
}

/**
 * Makes one read, and none if nothing is named. What the catalog does not list may exist, so a notice says it.
 * @throws UsageError for a provider without credentials, or a model that does not accept the effort; the signal's
 * reason after an abort
 */
export async function checkModels(wanted: WantedModels, options: CheckAccountOptions): Promise<void> {
  const { providers: named, models, efforts } = wanted;
  if (named.length + models.length === 0) return;
  const answer = await orUnknown((call) => options.service.listProviderModels(call), options);
  const rows = answer?.providers ?? [];
  for (const name of named) {
    if (rowOf(rows, name)?.configured !== false) continue;
    throw new UsageError(`--provider: ${name} has no credentials at the service. ${helpWithoutLogin(rows)}`);
  }
  const asked = named.length === 0 ? rows : named.flatMap((name) => rowOf(rows, name) ?? []);
  const listed = asked.flatMap((row) => row.models ?? []);
  for (const model of models) {
    const known = listed.filter((one) => one.model === model);
    if (known.length === 0 && listed.length > 0) {
      const names = oneLine(listed.map((one) => one.model).join(', '));
      options.notices.notice(`--model: the service does not list ${model}, and may refuse it. It lists ${names}.`);
    }
    for (const effort of efforts) {
      const isAccepted = known.some(({ reasoningEfforts }) => reasoningEfforts?.includes(effort) ?? true);
      if (known.length === 0 || isAccepted) continue;
      const accepted = oneLine(known.flatMap((one) => one.reasoningEfforts ?? []).join(', ')) || 'none';
      throw new UsageError(
        `--effort: the model ${model} does not accept ${effort}. It accepts: ${accepted}. Nothing was started.`,
      );
    }
  }
}

/** Makes one read. Says if more forks are to run at once than the account may have. */
export async function checkConcurrency(concurrency: number, options: CheckAccountOptions): Promise<void> {
  const max = (await orUnknown((call) => options.service.getLimits(call), options))?.limits.sandboxes?.max;
  if (max == null || concurrency <= max) return;
  options.notices.notice(
    `--concurrency: the account may have ${max} sandboxes at once, so fewer than ${concurrency} forks run.`,
  );
}

function helpWithoutLogin(rows: readonly ProviderModels[]): string {
  const configured = rows.flatMap(({ provider, configured: has }) => (has === true ? [provider] : []));
  const others = configured.length === 0 ? '' : `, or choose another provider: ${oneLine(configured.join(', '))}`;
  return `Give it a login there (docs/agents.md, "Credentials", for the local service)${others}. Nothing was started.`;
}

function rowOf(rows: readonly ProviderModels[], name: string): ProviderModels | undefined {
  return rows.find(({ provider }) => canonicalProvider(provider) === canonicalProvider(name));
}

/** A service that does not say it stops nobody: the service itself refuses what it does not have. */
async function orUnknown<T>(
  read: (call: CallOptions) => Promise<T>,
  { signal }: Pick<CheckAccountOptions, 'signal'>,
): Promise<T | undefined> {
  try {
    return await read({ signal, timeoutMs });
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}
