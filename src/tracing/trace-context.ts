/**
 * Hands the context of a trace on: to the calls of this process, and from a delivery to the signals that it becomes. The
 * SDK is the user's. Without one, nothing is loaded and no header is sent.
 */
import type { IncomingHttpHeaders } from 'node:http';

/** Where the API keeps what an SDK has registered, whichever copy of the API that was. */
const registry = Symbol.for('opentelemetry.js.api.1');

/** Undefined if no SDK has registered how contexts are written. */
async function registered(): Promise<typeof import('@opentelemetry/api') | undefined> {
  const { propagation } = Object((globalThis as Record<symbol, unknown>)[registry]);
  return propagation === undefined ? undefined : import('@opentelemetry/api').catch(() => undefined);
}

/** What W3C calls the context of a trace. Baggage stays: it may name customers, and a delivery does not sign its own. */
const contextFields = ['traceparent', 'tracestate'];

function contextIn(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(contextFields.flatMap((name) => (headers[name] ? [[name, String(headers[name])]] : [])));
}

/** Headers with the active context; none without one. */
export async function traceHeaders(): Promise<Record<string, string>> {
  const headers: Record<string, string> = {};
  const api = await registered();
  api?.propagation.inject(api.context.active(), headers);
  return contextIn(headers);
}

/** Runs `work` in a span of the active trace, or else of the one that the headers name, or else of a new one. */
export async function inSpan<T>(
  { name, headers, attributes }: { name: string; headers: IncomingHttpHeaders; attributes: Record<string, string> },
  work: () => Promise<T>,
): Promise<T> {
  const api = await registered();
  if (!api) return work();
  const active = api.context.active();
  const outer = api.trace.getSpan(active) ? active : api.propagation.extract(active, contextIn(headers));
  const options = { kind: api.SpanKind.CONSUMER, attributes };
  return api.trace
    .getTracer('sandflow')
    .startActiveSpan(name, options, outer, (span) => work().finally(() => span.end()));
}
