/** Which methods a path of the endpoint table has, for telling a wrong method from a wrong path. */
import { type Endpoint, endpoints } from '../../contract/endpoints.js';

const table = (Object.values(endpoints) as Endpoint[]).map(({ method, path }) => ({
  method,
  pattern: new RegExp(`^/v1${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));

/** Empty where there is no such path. */
export function allowedMethods(path: string): readonly string[] {
  const methods: string[] = table.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
  // The framework answers HEAD wherever it answers GET.
  return methods.includes('GET') ? [...methods, 'HEAD'] : methods;
}
