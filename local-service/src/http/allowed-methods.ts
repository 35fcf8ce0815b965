/** The methods of each path of the endpoint table, to distinguish a wrong method from a wrong path. */
import { type Endpoint, endpoints } from '../../../src/contract/endpoints/endpoints.js';
import { surfaces } from './surface.js';

const table = surfaces.flatMap(({ base, pathOf }) =>
  (Object.values(endpoints) as Endpoint[]).map(({ method, path }) => ({
    method,
    path: `${base}${pathOf(path)}`,
    pattern: new RegExp(`^${base}${pathOf(path).replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  })),
);

/** The methods that a path accepts; empty if there is no such path. */
export function allowedMethods(path: string): readonly string[] {
  // `/api-keys/scoped` is a path of its own, not a key with the id `scoped`.
  const literal = table.filter((row) => row.path === path);
  const rows = literal.length > 0 ? literal : table.filter(({ pattern }) => pattern.test(path));
  const methods = rows.map(({ method }) => method);
  // The framework answers HEAD wherever it answers GET.
  return methods.includes('GET') ? [...methods, 'HEAD'] : methods;
}

/**
 * True if this literal path does not have the method: the request would reach an endpoint whose parameter matches the
 * path.
 */
export function isOtherEndpoint(path: string, method: string): boolean {
  return table.some((row) => row.path === path) && !allowedMethods(path).includes(method);
}
