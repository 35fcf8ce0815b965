/** OpenTelemetry in this process, as a user sets it up: with an exporter that keeps the spans in memory. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type Context, type ContextManager, context, propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';

class AsyncContexts implements ContextManager {
  private readonly storage = new AsyncLocalStorage<Context>();

  active(): Context {
    return this.storage.getStore() ?? ROOT_CONTEXT;
  }

  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    within: Context,
    run: F,
    self?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.storage.run(within, () => run.call(self as ThisParameterType<F>, ...args));
  }

  bind<T>(_: Context, target: T): T {
    return target;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    return this;
  }
}

export function recordSpans() {
  const exporter = new InMemorySpanExporter();
  const processor = new SimpleSpanProcessor(exporter);
  const provider = new BasicTracerProvider({ spanProcessors: [processor] });
  provider.register({ contextManager: new AsyncContexts(), propagator: new W3CTraceContextPropagator() });
  return {
    ...{ processor, resource: provider.resource },
    spans: () => exporter.getFinishedSpans(),
    end() {
      for (const api of [trace, context, propagation]) api.disable();
    },
  };
}

/** Runs `work` in a span, as a caller does that traces itself. @returns its context too */
export function inCaller<T>(
  work: () => Promise<T>,
): Promise<{ readonly traceId: string; readonly spanId: string; readonly value: T }> {
  return trace.getTracer('caller').startActiveSpan('caller', async (span) => {
    const value = await work();
    span.end();
    return { ...span.spanContext(), value };
  });
}
