/** Looks a request up in the contract. Unknown requests are sent too: the service may have more endpoints. */
import { type Endpoint, endpoints } from '../../contract/endpoints/endpoints.js';
import { editsBetween } from '../../contract/texts/edits.js';

export interface InContract {
  /** True if the response is binary. */
  readonly raw: boolean;
  /** A suggestion if the contract has no such endpoint; otherwise null. */
  readonly hint: string | null;
}

export function lookUp(method: string, path: string): InContract {
  const rows = Object.values<Endpoint>(endpoints);
  const ofPath = rows.filter((row) => matches(row.path, path));
  const found = ofPath.find((row) => row.method === method);
  if (found) return { raw: found.raw === true, hint: null };
  const none = `The contract has no ${method} ${path}`;
  if (ofPath.length > 0)
    return { raw: false, hint: `${none}. That path supports ${ofPath.map((row) => row.method).join(', ')}.` };
  const nearest = nearestOf(
    rows.filter((row) => row.method === method),
    path,
  );
  return { raw: false, hint: nearest ? `${none}. Did you mean ${method} ${nearest}?` : `${none}.` };
}

function matches(pattern: string, path: string): boolean {
  const wanted = pattern.split('/');
  const given = path.split('/');
  return wanted.length === given.length && wanted.every((part, at) => isParameter(part) || part === given[at]);
}

const isParameter = (part: string) => part.startsWith('{');

/** The most similar path, if it is similar enough. A repeated version prefix is ignored. */
function nearestOf(rows: readonly Endpoint[], path: string): string | undefined {
  const given = path.replace(/^\/v\d+(?=\/)/, '').split('/');
  const scored = rows
    .filter((row) => row.path.split('/').length === given.length)
    .map((row) => {
      const parts = row.path.split('/');
      const wrong = parts.map((part, at) => (isParameter(part) ? 0 : editsBetween(part, given[at] ?? '')));
      return { path: row.path, wrong: wrong.reduce((sum, one) => sum + one, 0) };
    })
    .sort((a, b) => a.wrong - b.wrong);
  const [best] = scored;
  return best && best.wrong <= 3 ? best.path : undefined;
}
