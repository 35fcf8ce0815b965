/** The two surfaces of the service: the current one, and the legacy one in the vocabulary before the rename. */
import type { AssumptionId } from '../../../src/contract/assumptions.js';
import { otherPath, otherVocabulary } from '../core/legacy-vocabulary.js';

export interface Surface {
  readonly name: 'current' | 'legacy';
  /** The prefix of its paths. */
  readonly base: `/${string}`;
  /** The assumptions that every answer relies on. */
  readonly assumed: readonly AssumptionId[];
  pathOf(path: string): string;
  /** Translates the input of a request into the current vocabulary. */
  incoming(value: unknown): unknown;
  /** Translates the JSON of an answer into the surface's own vocabulary. */
  outgoing(json: string): string;
  /** Translates an error envelope into the surface's own vocabulary. */
  refusal(envelope: Readonly<Record<string, unknown>>): unknown;
}

export const currentSurface: Surface = {
  name: 'current',
  base: '/v1',
  assumed: [],
  pathOf: (path) => path,
  incoming: (value) => value,
  outgoing: (json) => json,
  refusal: (envelope) => envelope,
};

/**
 * Specification, "Versioning": the same operations under `/boxes…`. Words are exchanged in both directions: names of
 * the current surface are unknown here, and `boxId` is unknown there.
 */
export const legacySurface: Surface = {
  name: 'legacy',
  base: '/legacy/v1',
  assumed: ['A-legacy-base', 'A-sunset-year'],
  pathOf: otherPath,
  incoming: otherVocabulary,
  outgoing: (json) => JSON.stringify(otherVocabulary(JSON.parse(json))),
  refusal: (envelope) =>
    otherVocabulary(
      JSON.parse(JSON.stringify(envelope), (key, value: unknown) =>
        // Specification, "Errors": `sandbox_not_found` belongs to the current vocabulary; the legacy one has only
        // `not_found`.
        key === 'code' && value === 'sandbox_not_found' ? 'not_found' : value,
      ),
    ),
};

export const surfaces: readonly Surface[] = [currentSurface, legacySurface];

/** The surface that a URL belongs to; undefined for `/_local` and for unknown paths. */
export function surfaceOf(url: string): Surface | undefined {
  return surfaces.find(({ base }) => new RegExp(`^${base}(?:[/?]|$)`).test(url));
}

/**
 * The `Sunset` header of the legacy surface. Assumption: the specification says October 31 without a year; this is the
 * next October 31 on the service's clock.
 */
export function sunsetAfter(nowMs: number): string {
  const endOfDay = (year: number): number => Date.UTC(year, 9, 31, 23, 59, 59);
  const year = new Date(nowMs).getUTCFullYear();
  return new Date(endOfDay(nowMs <= endOfDay(year) ? year : year + 1)).toUTCString();
}
