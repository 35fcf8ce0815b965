/** Providers, their aliases and what is configured (specification, prompt endpoint). */
import { providerAliases, reasoningEfforts } from '../../contract/requests.js';
import { SandflowError } from '../../contract/sandflow-error.js';
import { ServiceError } from '../service-error.js';

type ProviderName = keyof typeof providerAliases;
const providerNames = Object.keys(providerAliases) as ProviderName[];

/** The name of a provider for its name or an alias; undefined for one that nobody listed. */
function providerNameOf(nameOrAlias: string): ProviderName | undefined {
  return providerNames.find(
    (name) => name === nameOrAlias || (providerAliases[name] as readonly string[]).includes(nameOrAlias),
  );
}

/** @throws ServiceError `provider_required` for a provider that nobody listed */
export function requireProvider(nameOrAlias: string): ProviderName {
  const name = providerNameOf(nameOrAlias);
  if (name) return name;
  const message = `"${nameOrAlias}" is no provider. Choose one of ${providerNames.join(', ')}.`;
  throw new ServiceError(400, 'provider_required', message);
}

/** The catalog of `GET /provider-models`; the local agents take any model, and one is listed for each. */
export function providerCatalog(isConfigured: (provider: string) => boolean): readonly unknown[] {
  return providerNames.map((provider) => ({
    provider,
    aliases: providerAliases[provider],
    configured: isConfigured(provider),
    models: [{ model: `${provider}-local`, reasoningEfforts: [...reasoningEfforts] }],
  }));
}

/**
 * The name for a provider in the options, where an alias will do too.
 * @throws SandflowError `bad_configuration` for a provider that nobody listed
 */
export function configuredProvider(nameOrAlias: string): string {
  const name = providerNameOf(nameOrAlias);
  if (name) return name;
  const message = `"${nameOrAlias}" is no provider. Choose among ${providerNames.join(', ')}.`;
  throw new SandflowError('bad_configuration', message);
}
