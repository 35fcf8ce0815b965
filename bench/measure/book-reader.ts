/** Reads the books of the local service: every call that it received and every webhook that it sent. */
import type { Inspection, InspectionSummary } from '../../local-service/src/index.js';

export type BookPages = { readonly [Page in 'calls' | 'sandboxes' | 'deliveries']: ReturnType<Inspection[Page]> };

export interface BookReader {
  all(): Promise<BookPages>;
  summary(): Promise<InspectionSummary>;
}

export function createBookReader(serviceUrl: string, apiKey: string): BookReader {
  const { origin } = new URL(serviceUrl);
  async function get(path: string): Promise<unknown> {
    const answer = await fetch(`${origin}/_local/${path}`, { headers: { authorization: `Bearer ${apiKey}` } });
    if (!answer.ok) throw new Error(`The books cannot be read: ${answer.status}.`);
    return answer.json();
  }
  return {
    all: async () => (await get('books')) as BookPages,
    summary: async () => ((await get('books/summary')) as { readonly summary: InspectionSummary }).summary,
  };
}

/** The number of calls of each endpoint. */
export type CallCounts = Readonly<Record<string, number>>;

export function callsBetween(
  before: InspectionSummary,
  after: InspectionSummary,
): { total: number; byEndpoint: CallCounts } {
  const entries = Object.entries(after.byEndpoint).map(
    ([endpoint, count]) => [endpoint, count - (before.byEndpoint[endpoint] ?? 0)] as const,
  );
  const made = entries.filter(([, count]) => count > 0);
  return { total: made.reduce((sum, [, count]) => sum + count, 0), byEndpoint: Object.fromEntries(made) };
}
