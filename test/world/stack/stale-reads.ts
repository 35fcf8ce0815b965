/** Reads that lag behind a write, and lists that are incomplete, unreadable in part, or not there. */
import type { EndpointName } from '../../../src/contract/endpoints/endpoints.js';
import { type Answer, type ProxiedCall, readJson } from '../../slow/matrix/faults/fault-proxy.js';
import { withBadRow } from '../../slow/matrix/faults/garble.js';
import type { Plan, Trouble } from '../plan/plan.js';

type TroubleOf<Kind extends Trouble['kind']> = Extract<Trouble, { readonly kind: Kind }>;

export interface StaleReads {
  /** Called with every answer: changes what reads show. */
  change(job: string, call: ProxiedCall, answer: Answer): Answer;
  /** The newest answer to an endpoint about another sandbox. */
  otherAnswer(endpoint: string, sandboxId: string | null): Answer | undefined;
}

export interface StaleReadsOptions {
  readonly isMet: (job: string, call: ProxiedCall, trouble: TroubleOf<'lag'>) => boolean;
  /** Calls of the world so far. */
  readonly calls: () => number;
  readonly onStrike: (trouble: Trouble) => void;
}

interface Lag {
  readonly shows: 'missing' | 'old';
  readonly writtenAtMs: number;
  readonly ms: number;
  /** Set by the first read. However busy the machine is, that read comes before the lag ends. */
  untilMs: number | null;
}

/** A read that comes so long after the write shows it, in ms. */
const longestMs = 6_000;

const lagging: ReadonlySet<EndpointName> = new Set(['getSandbox', 'getStop', 'getPrompt']);

export function createStaleReads(plan: Plan, { isMet, calls, onStrike }: StaleReadsOptions): StaleReads {
  const lags = new Map<string, Lag>();
  const before = new Map<string, Answer>();
  const newest = new Map<string, { readonly sandboxId: string | null; readonly answer: Answer }[]>();
  const listings = new Map<string, number>();
  const ofLag = plan.troubles.filter((one): one is TroubleOf<'lag'> => one.kind === 'lag');
  const ofLists = plan.troubles.filter((one): one is TroubleOf<'lists'> => one.kind === 'lists');
  const lagOf = (sandboxId: string | null | undefined) => {
    const lag = sandboxId ? lags.get(sandboxId) : undefined;
    if (!lag || Date.now() > lag.writtenAtMs + longestMs) return undefined;
    lag.untilMs ??= Date.now() + lag.ms;
    return lag.untilMs > Date.now() ? lag : undefined;
  };

  function remember(call: ProxiedCall, answer: Answer): void {
    const sandboxId = call.sandboxId ?? madeId(answer);
    const known = (newest.get(call.endpoint) ?? []).filter((one) => one.sandboxId !== sandboxId);
    newest.set(call.endpoint, [...known.slice(-3), { sandboxId, answer }]);
  }

  function changeList(answer: Answer): Answer {
    const one = ofLists.find(({ key, afterCalls, lists }) => calls() >= afterCalls && (listings.get(key) ?? 0) < lists);
    const list = readJson(answer.body) as { readonly sandboxes?: readonly { readonly id: string }[] } | undefined;
    const rows = list?.sandboxes?.filter(({ id }) => lagOf(id)?.shows !== 'missing') ?? [];
    if (list?.sandboxes === undefined) return answer;
    if (!one) return json({ ...list, sandboxes: rows });
    listings.set(one.key, (listings.get(one.key) ?? 0) + 1);
    onStrike(one);
    switch (one.shows) {
      case 'nothing':
        return { status: 503, type: 'text/html', body: Buffer.from('<html><h1>nginx</h1></html>') };
      case 'some':
        return json({ ...list, sandboxes: rows.filter(({ id }) => id.charCodeAt(5) % 2 === 0) });
      case 'bad_row':
        return json(rows.length === 0 ? list : withBadRow({ ...list, sandboxes: rows }, 0));
    }
  }

  return {
    change(job, call, answer) {
      if (answer.status >= 400) return answer;
      const lag = lagging.has(call.endpoint) ? lagOf(call.sandboxId) : undefined;
      if (lag?.shows === 'missing') return missing;
      if (lag) return before.get(call.path) ?? answer;
      if (call.isRead) before.set(call.path, answer);
      remember(call, answer);
      const begins = call.isRead ? undefined : ofLag.find((one) => isMet(job, call, one));
      const sandboxId = call.sandboxId ?? madeId(answer);
      if (begins && sandboxId !== null) {
        onStrike(begins);
        // A sandbox that was there before does not vanish: only what the write made is missing.
        const shows = call.sandboxId === null || call.endpoint === 'forkSandbox' ? 'missing' : 'old';
        const id = call.endpoint === 'forkSandbox' ? madeId(answer) : sandboxId;
        if (id !== null) lags.set(id, { shows, writtenAtMs: Date.now(), ms: begins.ms, untilMs: null });
      }
      return call.endpoint === 'listSandboxes' ? changeList(answer) : answer;
    },
    otherAnswer: (endpoint, sandboxId) =>
      newest.get(endpoint)?.findLast((one) => one.sandboxId !== sandboxId || sandboxId === null)?.answer,
  };
}

export function madeId(answer: Answer): string | null {
  const { sandbox } = (readJson(answer.body) ?? {}) as { readonly sandbox?: { readonly id?: string } };
  return sandbox?.id ?? null;
}

const json = (value: unknown): Answer => ({
  status: 200,
  type: 'application/json',
  body: Buffer.from(JSON.stringify(value)),
});

const code = 'sandbox_not_found';
const message = 'There is no such sandbox, says a replica that lags';
const missing: Answer = {
  status: 404,
  type: 'application/json',
  body: Buffer.from(
    JSON.stringify({
      ok: false,
      type: 'sandbox.error',
      status: 404,
      code,
      message,
      error: { code, message, status: 404 },
      requestId: `req_${'0'.repeat(24)}`,
    }),
  ),
};
