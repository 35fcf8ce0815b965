import { fitsAny } from '../../retention/index.js';

/** Matches whole names: `*` matches any characters, `?` matches one. */
export function nameMatches(pattern: string): (name: string | undefined) => boolean {
  return (name) => fitsAny([pattern], name ?? '');
}
