import { fitsAny } from '../../retention/index.js';

/** Names by pattern: `*` stands for any characters, `?` for one; the whole name must fit. */
export function nameMatches(pattern: string): (name: string | undefined) => boolean {
  return (name) => fitsAny([pattern], name ?? '');
}
