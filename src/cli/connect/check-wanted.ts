/**
 * Asks the service, before anything is paid, whether it has what a job or the items of a batch name, and whether as
 * many sandboxes may run at once. A provider with a typo booted a machine for each item.
 */
import type { CallOptions, SandboxClient } from '../../client/index.js';
import type { ProviderModels } from '../../contract/records/sandbox-records.js';
import { canonicalProvider } from '../../contract/requests/sandbox-requests.js';
import type { FanoutSource } from '../../protocol/fanout/fanout-input.js';
import type { JobInput, PromptStep } from '../../protocol/job/job-input.js';
import { headLine, oneLine } from '../output/terminal-safe.js';
import { UsageError } from '../usage-error.js';
import { type CheckSourceOptions, checkSource } from './check-source.js';
import { createConcurrencyLimit } from './concurrency-limit.js';
import { type NamedSource, namedSourceOf } from './named-source.js';

const timeoutMs = 10_000;
const sourcesAtOnce = 8;
const wayOut = 'Nothing was started. Correct it, or add --no-check.';

/** The harness, the model and the effort of a prompt. */
export interface PromptChoice extends Pick<PromptStep, 'provider' | 'model' | 'reasoningEffort'> {
  /** Id of the first item with this choice. */
  readonly item?: string;
}

/** `item`: id of the first item with this source; absent for a source of the options. */
type Source = (JobInput['source'] | FanoutSource) & { readonly item?: string };

/** What the service must have. */
export interface Wanted {
  readonly sources: readonly Source[];
  /** The different choices of all prompts. */
  readonly choices: readonly PromptChoice[];
  /** How many sandboxes are to run at once. Default: one. */
  readonly concurrency?: number;
}

export interface CheckWantedOptions extends CheckSourceOptions {
  readonly service: CheckSourceOptions['service'] &
    Pick<SandboxClient, 'listProviderModels' | 'listEnvironments' | 'getLimits'>;
}

export const wantedOfJob = ({ source, prompts }: Pick<JobInput, 'source' | 'prompts'>): Wanted => {
  const choices = new PromptChoices();
  choices.add(prompts);
  return { sources: [source], choices: choices.all };
};

/** Collects the different choices of many prompts. */
export class PromptChoices {
  readonly #found = new Map<string, PromptChoice>();

  add(prompts: readonly PromptChoice[], item?: string): void {
    for (const { provider, model, reasoningEffort } of prompts) {
      if ((provider ?? model) === undefined) continue;
      const key = JSON.stringify([provider, model, reasoningEffort]);
      const choice = { provider, model, reasoningEffort, ...(item !== undefined && { item }) };
      if (!this.#found.has(key)) this.#found.set(key, choice);
    }
  }

  get all(): readonly PromptChoice[] {
    return [...this.#found.values()];
  }
}

/** True if there is something to ask the service about before the start. */
export function namesAnything({ sources, choices }: Wanted): boolean {
  const isNamed = (source: Source) => namedSourceOf(source) !== null || environmentOf(source) !== undefined;
  return sources.some(isNamed) || choices.length > 0;
}

/**
 * Makes one read for each sandbox and snapshot, and for each other kind of thing, that is named. What the service does not say stops nothing: the service itself
 * refuses it later.
 * @throws UsageError for a provider, a model, an effort or an environment that the service does not have; as
 * `checkSource`; the signal's reason after an abort
 */
export async function checkWanted(wanted: Wanted, options: CheckWantedOptions): Promise<void> {
  const named = new Map<string, NamedSource>();
  for (const one of wanted.sources.map(namedSourceOf)) if (one) named.set(JSON.stringify(one), one);
  const gate = createConcurrencyLimit(sourcesAtOnce);
  await Promise.all([...named.values()].map((one) => gate(() => checkSource(one, options))));
  await checkEnvironments(wanted.sources, options);
  await checkModels(wanted.choices, options);
  if (wanted.concurrency !== undefined) await checkConcurrency(wanted.concurrency, options);
}

function environmentOf(source: Source): string | undefined {
  const isCreated = source.kind === 'create' || source.kind === 'prepare' || source.kind === 'snapshot';
  return isCreated ? source.body.environment : undefined;
}

async function checkEnvironments(sources: Wanted['sources'], asking: CheckWantedOptions): Promise<void> {
  const wanted = sources.flatMap((source) => {
    const name = environmentOf(source);
    return name === undefined ? [] : [{ item: source.item, name }];
  });
  if (wanted.length === 0) return;
  let rowsLeftOut = 0;
  const onRowsLeftOut = (rows: number) => {
    rowsLeftOut += rows;
  };
  const answer = await orUnknown((call) => asking.service.listEnvironments({ ...call, onRowsLeftOut }), asking);
  if (answer === undefined || rowsLeftOut > 0) return;
  const { environments } = answer;
  const known = new Set(environments.flatMap(({ id, name }) => [id, name]));
  const missing = wanted.find(({ name }) => !known.has(name));
  if (missing === undefined) return;
  const { item, name } = missing;
  const has = listText(environments.map((one) => one.name));
  const where = item === undefined ? '--environment' : `environment of the source of the item ${headLine(item)}`;
  throw new UsageError(`${where}: the service has no environment ${headLine(name)}. It has ${has}. ${wayOut}`);
}

async function checkModels(choices: readonly PromptChoice[], asking: CheckWantedOptions): Promise<void> {
  if (choices.length === 0) return;
  const rows = (await orUnknown((call) => asking.service.listProviderModels(call), asking))?.providers ?? [];
  if (rows.length > 0) for (const choice of choices) checkChoice(choice, rows);
}

/** The catalog has every model of each provider (specification, prompt endpoint). A row without models says nothing. */
function checkChoice({ provider, model, reasoningEffort, item }: PromptChoice, rows: readonly ProviderModels[]): void {
  const first = item === undefined ? '' : `The first item that asks for it is ${headLine(item)}. `;
  const row = provider === undefined ? undefined : rowOf(rows, provider);
  if (provider !== undefined && row === undefined) {
    const has = listText(rows.map((one) => one.provider));
    throw new UsageError(
      `--provider: the service has no provider ${headLine(provider)}. It has ${has}. ${first}${wayOut}`,
    );
  }
  if (row?.configured === false) {
    throw new UsageError(
      `--provider: ${provider} has no credentials at the service. ${first}${helpWithoutLogin(rows)}`,
    );
  }
  const asked = row ? [row] : rows;
  if (model === undefined || asked.some(({ models }) => (models ?? []).length === 0)) return;
  const listed = asked.flatMap(({ models }) => models ?? []);
  const known = listed.filter((one) => one.model === model);
  if (known.length === 0) {
    const has = listText(listed.map((one) => one.model));
    const of = provider === undefined ? 'the service' : `the provider ${provider}`;
    throw new UsageError(`--model: ${of} has no model ${headLine(model)}. It has ${has}. ${first}${wayOut}`);
  }
  if (reasoningEffort === undefined) return;
  if (known.some(({ reasoningEfforts }) => reasoningEfforts?.includes(reasoningEffort) ?? true)) return;
  const accepted = oneLine(known.flatMap((one) => one.reasoningEfforts ?? []).join(', ')) || 'none';
  const text = `the model ${model} does not accept ${reasoningEffort}. It accepts: ${accepted}`;
  throw new UsageError(`--effort: ${text}. ${first}${wayOut}`);
}

async function checkConcurrency(concurrency: number, asking: CheckWantedOptions): Promise<void> {
  const max = (await orUnknown((call) => asking.service.getLimits(call), asking))?.limits.sandboxes?.max;
  if (max == null || concurrency <= max) return;
  asking.notices.notice(
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

const listText = (names: readonly string[]) => (names.length === 0 ? 'none' : oneLine([...new Set(names)].join(', ')));

async function orUnknown<T>(
  read: (call: CallOptions) => Promise<T>,
  { signal }: Pick<CheckWantedOptions, 'signal'>,
): Promise<T | undefined> {
  try {
    return await read({ signal, timeoutMs });
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}
