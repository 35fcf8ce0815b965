/** A trace of a workflow, and its form for a collector of OpenTelemetry. */
import { hash } from 'node:crypto';

export interface TraceSpan {
  /** What it shows of the workflow. Its id comes from this, so that each export has the same. */
  readonly key: string;
  /** The key of the span that it is a part of; null for the first. */
  readonly parent: string | null;
  readonly kind: 'workflow' | 'activity' | 'wait' | 'prompt' | 'timer' | 'stop';
  readonly name: string;
  /** In ms since the epoch. */
  readonly startedAt: number;
  /** When a worker took an activity, or an agent a prompt. Default: at the start. */
  readonly begunAt?: number | undefined;
  /** Null if it has not ended. */
  readonly endedAt: number | null;
  /** A code, such as `error`. No attribute holds a text of a prompt or an error. */
  readonly attributes: Readonly<Record<string, string | number | null | undefined>>;
}

const hexOf = (text: string, bytes: number) => hash('sha256', text).slice(0, 2 * bytes);
export const traceIdOf = ([root]: readonly TraceSpan[]): string => hexOf(root?.key ?? '', 16);

export const attributesOf = ({ attributes }: TraceSpan): [name: string, value: string | number][] =>
  Object.entries(attributes).flatMap(([name, value]) => (value == null ? [] : [[name, value]]));

/** In microseconds, the number is exact. */
const nanos = (ms: number) => `${Math.round(ms * 1_000)}000`;
const keyValues = (entries: readonly (readonly [string, string | number])[]) =>
  entries.map(([key, value]) => ({
    key,
    value: typeof value === 'string' ? { stringValue: value } : { intValue: `${Math.round(value)}` },
  }));

/** What a collector takes at `/v1/traces`. What has not ended is left out: a collector keeps the first end that it gets. */
export function otlpRequest(spans: readonly TraceSpan[], resource: Readonly<Record<string, string>>) {
  const traceId = traceIdOf(spans);
  const idOf = (key: string | null) => (key === null ? undefined : hexOf(`${traceId} ${key}`, 8));
  const ended = spans.flatMap(({ endedAt, ...span }) => (endedAt === null ? [] : [{ ...span, endedAt }]));
  const exported = ended.map((span) => ({
    ...{ traceId, spanId: idOf(span.key), parentSpanId: idOf(span.parent), name: span.name, kind: 1 },
    ...{ startTimeUnixNano: nanos(span.startedAt), endTimeUnixNano: nanos(span.endedAt) },
    attributes: keyValues(attributesOf(span).map(([name, value]) => [`sandflow.${name}`, value])),
    ...(span.begunAt !== undefined && { events: [{ name: 'started', timeUnixNano: nanos(span.begunAt) }] }),
    status: span.attributes.error ? { code: 2, message: span.attributes.error } : {},
  }));
  const scopeSpans = [{ scope: { name: 'sandflow' }, spans: exported }];
  return { resourceSpans: [{ resource: { attributes: keyValues(Object.entries(resource)) }, scopeSpans }] };
}
