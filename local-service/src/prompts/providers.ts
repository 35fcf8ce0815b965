/** Providers, their aliases and what is configured (specification, prompt endpoint). */

import { canonicalProvider, providerAliases } from '../../../src/contract/requests/sandbox-requests.js';
import { reasoningEfforts } from '../../../src/contract/workflow-safe/reasoning-efforts.js';
import { SandflowError } from '../../../src/errors/sandflow-error.js';
import type { GivenModels, LocalModel, ReasoningEffort } from '../core/models.js';
import { invalidRequest, ServiceError } from '../service-error.js';

type ProviderName = keyof typeof providerAliases;
const providerNames = Object.keys(providerAliases) as ProviderName[];

/** Finds a provider by its name or an alias; undefined for an unknown provider. */
function providerNameOf(nameOrAlias: string): ProviderName | undefined {
  const name = canonicalProvider(nameOrAlias);
  return providerNames.find((known) => known === name);
}

/**
 * @param nameOrAlias what the prompt or its default names; null without either
 * @throws ServiceError `provider_required` without a provider, `invalid_request` for an unknown one
 */
export function requireProvider(nameOrAlias: string | null): ProviderName {
  const choice = `Choose one of ${providerNames.join(', ')}.`;
  if (nameOrAlias === null) throw new ServiceError(400, 'provider_required', `The prompt needs a provider. ${choice}`);
  const name = providerNameOf(nameOrAlias);
  if (name) return name;
  throw invalidRequest(`provider: "${nameOrAlias}" is not a provider. ${choice}`);
}

/** By default a provider has two models: one accepts every level of effort, the other accepts none. */
function modelsOf(provider: ProviderName, given: GivenModels): readonly Required<LocalModel>[] {
  const ofSettings = given.get(provider);
  if (ofSettings) return ofSettings.map((listed) => ({ reasoningEfforts: [], ...listed }));
  return [
    { model: `${provider}-local`, reasoningEfforts },
    { model: `${provider}-local-plain`, reasoningEfforts: [] },
  ];
}

/**
 * The catalog of `GET /provider-models`. Unless the settings list the models of a provider, its agent also accepts
 * models that the catalog does not list, without a level of effort. The catalog lists no model of an agent that takes
 * any.
 */
export function providerCatalog(
  given: GivenModels,
  { isConfigured, takesAnyModel }: Record<'isConfigured' | 'takesAnyModel', (provider: string) => boolean>,
): readonly unknown[] {
  return providerNames.map((provider) => ({
    provider,
    aliases: providerAliases[provider],
    configured: isConfigured(provider),
    models: takesAnyModel(provider) && !given.has(provider) ? [] : modelsOf(provider, given),
  }));
}

/**
 * Checks that a provider whose models the settings list has this model.
 * @throws ServiceError `invalid_request` that names the listed models
 */
export function requireModel(given: GivenModels, provider: ProviderName, model: string | undefined): void {
  const listed = given.get(provider)?.map((known) => known.model);
  if (model === undefined || !listed || listed.includes(model)) return;
  throw invalidRequest(`model: the provider ${provider} has no model ${model}. It has ${listed.join(', ')}.`);
}

/**
 * Checks that the model accepts the level (specification, prompt endpoint). An unlisted model accepts no level, and the
 * default model accepts every level.
 * @throws ServiceError `invalid_request` for a level that the model does not accept
 */
export function requireEffort(
  given: GivenModels,
  provider: ProviderName,
  { model, effort }: { readonly model: string | undefined; readonly effort: ReasoningEffort },
): void {
  if (model === undefined) return;
  const models = modelsOf(provider, given);
  const listed = models.find((candidate) => candidate.model === model);
  if (listed?.reasoningEfforts.includes(effort)) return;
  if (!listed) {
    const names = models.map((known) => known.model).join(', ');
    throw invalidRequest(
      `reasoningEffort: the model ${model} is not listed, so it accepts no reasoning effort. Listed are ${names}.`,
    );
  }
  const accepted = listed.reasoningEfforts.join(', ') || 'no reasoning effort, so omit the field';
  throw invalidRequest(`reasoningEffort: ${listed.model} does not accept ${effort}. It accepts ${accepted}.`);
}

/**
 * The name of a provider that the options give by its name or by an alias.
 * @throws SandflowError `bad_configuration` for an unknown provider
 */
export function configuredProvider(nameOrAlias: string): string {
  const name = providerNameOf(nameOrAlias);
  if (name) return name;
  const message = `"${nameOrAlias}" is not a provider. Choose one of ${providerNames.join(', ')}.`;
  throw new SandflowError('bad_configuration', message);
}

/**
 * The entries of a setting by the names of their providers, which the setting gives by name or by an alias.
 * @throws SandflowError `bad_configuration` for an unknown provider, and for two names of one provider
 */
export function byProvider<Value>(
  setting: string,
  entries: Readonly<Record<string, Value>> = {},
): ReadonlyMap<string, Value> {
  const found = new Map<string, { readonly given: string; readonly value: Value }>();
  for (const [given, value] of Object.entries(entries)) {
    const name = configuredProvider(given);
    const other = found.get(name)?.given;
    if (other !== undefined) {
      const message = `${setting}: "${other}" and "${given}" are names of the same provider. Keep one of the two entries.`;
      throw new SandflowError('bad_configuration', message);
    }
    found.set(name, { given, value });
  }
  return new Map([...found].map(([name, { value }]) => [name, value]));
}
