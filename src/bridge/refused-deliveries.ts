/**
 * Tells of the deliveries that the bridge refuses. Without it, they show only as events that never come, and as a count
 * that nobody looks at. Of a sandbox that it is asked for, it tells whether an event has come.
 */
import type { RefusalReason } from '../webhook/index.js';
import type { BridgeLog } from './bridge-options.js';

interface Refusal {
  /** Ends the sentence "A delivery was refused: …". */
  readonly why: string;
  /** What helps. */
  readonly mend: string;
  /** Begins a line of `GET /readyz`. Only deliveries that the service itself has probably sent have one. */
  readonly line?: string;
}

const changed = 'Let the proxy in front of the bridge pass on all headers unchanged; or somebody else sent it.';

/** By the result that the metrics count. */
const refusals: Readonly<Record<RefusalResult, Refusal>> = {
  bad_signature: {
    line: 'refused signatures: ',
    why: 'another secret signed it',
    mend: 'If the service sent it, replace the secret: repeat `sandflow webhooks connect` with `--rotate`, or run `sandflow webhooks rotate WEBHOOK`.',
  },
  stale_timestamp: {
    line: 'refused timestamps: ',
    why: 'its timestamp and the clock of the bridge differ by more than 300 s',
    mend: 'Set the clock of the machine of the bridge, and keep it right with NTP.',
  },
  missing_headers: { why: 'it has not all headers of a signature', mend: changed },
  malformed_headers: {
    why: 'a header of its signature is malformed, or there twice with different values',
    mend: changed,
  },
  headers_too_large: {
    why: 'its headers are larger than 16 KiB',
    mend: 'See which headers the proxy in front of the bridge adds.',
  },
  bad_request: {
    why: 'it is no request of HTTP/1.1',
    mend: 'Let the proxy in front of the bridge speak it, without TLS and without the PROXY protocol.',
  },
};

export type RefusalResult = RefusalReason | 'headers_too_large' | 'bad_request';

export type RefusedDeliveries = ReturnType<typeof createRefusedDeliveries>;

/** Anyone may send deliveries, so only the first of each kind after an accepted one is logged. */
export function createRefusedDeliveries(log: BridgeLog, expectedPrefix?: string) {
  const counts = new Map<RefusalResult, number>();
  const toldPrefixes = new Set<string>();
  /** The newest last. */
  const sandboxIds = new Set<string>();
  let otherPrefix: string | undefined;
  return {
    /** @param fields what is known about this one, for the log */
    refused(result: RefusalResult, fields?: Readonly<Record<string, unknown>>): void {
      const count = (counts.get(result) ?? 0) + 1;
      counts.set(result, count);
      const { why, mend } = refusals[result];
      if (count === 1)
        log(`A delivery was refused: ${why}. ${mend} Further ones are only counted.`, { result, ...fields });
    },
    /**
     * Call it after an event of the service: what it refuses no longer lasts.
     * @param prefix how the names of its headers begin if not with `x-svc-`
     */
    accepted(prefix?: string, sandboxId?: string): void {
      counts.clear();
      if (sandboxId === undefined) sandboxIds.clear();
      else sandboxIds.add(sandboxId);
      for (const oldest of sandboxIds) if (sandboxIds.size > mostSandboxes) sandboxIds.delete(oldest);
      otherPrefix = prefix === expectedPrefix ? undefined : prefix;
      if (otherPrefix === undefined || toldPrefixes.has(otherPrefix)) return;
      toldPrefixes.add(otherPrefix);
      log(`The service's headers begin with ${otherPrefix}. ${setPrefix(otherPrefix)}`);
    },
    /** The lines of `GET /readyz` about refusals since the last delivery that was accepted, and about a sandbox. */
    lines(sandboxId?: string | null): string[] {
      const refused = [...counts].flatMap(([result, count]) => {
        const { line } = refusals[result];
        return line === undefined ? [] : `${line}${count}`;
      });
      if (otherPrefix !== undefined) refused.push(prefixLine + otherPrefix);
      return sandboxIds.has(sandboxId ?? '') ? [...refused, eventLine] : refused;
    },
  };
}

const prefixLine = 'headers begin with: ';
const eventLine = 'an event of this sandbox has come';
/** Of this many sandboxes the bridge knows that an event has come. */
const mostSandboxes = 1_000;

/** True if `GET /readyz?sandbox=ID` says that an event of the sandbox has come to this bridge. */
export const hasEvent = (ready: string): boolean => ready.split('\n').includes(eventLine);

/** What helps if the service calls its headers otherwise than the specification. */
export function setPrefix(prefix: string): string {
  return `Set SANDBOX_API_HEADER_PREFIX=${prefix} for workers and commands, because deletes need such a header too.`;
}

/** How the headers of deliveries begin, as `GET /readyz` says it; undefined if as in the specification. */
export function readPrefix(ready: string): string | undefined {
  return ready
    .split('\n')
    .find((line) => line.startsWith(prefixLine))
    ?.slice(prefixLine.length);
}

/** Why a bridge answers 401, and what helps; undefined for another answer. */
export function refusalNamed(result: string): Refusal | undefined {
  return Object.hasOwn(refusals, result) ? refusals[result as RefusalResult] : undefined;
}

/** What `GET /readyz` says of the deliveries that the bridge refuses; undefined if it refuses none. */
export function readRefusals(ready: string): (Refusal & { readonly count: number }) | undefined {
  for (const refusal of Object.values(refusals)) {
    const { line } = refusal;
    const found = line === undefined ? undefined : ready.split('\n').find((one) => one.startsWith(line));
    const count = Number(found?.slice(line?.length));
    if (found !== undefined && Number.isSafeInteger(count)) return { ...refusal, count };
  }
  return undefined;
}
