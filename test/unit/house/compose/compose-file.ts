/** docker-compose.yml as its tests read it. */
import { parse } from 'yaml';
import { readSource } from '../source-imports.js';

export interface Service {
  readonly image: string;
  readonly build?: string | Readonly<Record<string, string>>;
  readonly pull_policy?: string;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly secrets?: readonly string[];
  readonly profiles?: readonly string[];
  readonly networks?: readonly string[];
  readonly network_mode?: string;
  readonly restart?: string;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly logging?: { readonly options?: Readonly<Record<string, string>> };
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
  readonly networks: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, unknown>>;
}

export const composeText = readSource('docker-compose.yml');
export const compose = parse(composeText, { merge: true }) as Compose;
export const services = Object.entries(compose.services);
/** The services of sandflow's own image. */
export const ours = services.filter(([, { image }]) => image.startsWith('sandflow:'));

/** Those, and the services of the image of the local service. */
export const built = services.filter(([, { image }]) => image.startsWith('sandflow'));

export function serviceOf(name: string): Service {
  const service = compose.services[name];
  if (!service) throw new Error(`docker-compose.yml has no service ${name}.`);
  return service;
}

/** The services that must have ended before this one starts, directly or through others. */
export function endedBefore(name: string): string[] {
  return Object.entries(serviceOf(name).depends_on ?? {}).flatMap(([needed, { condition }]) => [
    ...(condition === 'service_completed_successfully' ? [needed] : []),
    ...endedBefore(needed),
  ]);
}
