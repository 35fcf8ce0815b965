/** `sandflow jobs trace`: draws when a job did what, or prints the same for a collector. */
import { readJobTrace } from '../../workflow-client/traces/job-trace.js';
import { attributesOf, otlpRequest, type TraceSpan, traceIdOf } from '../../workflow-client/traces/span.js';
import type { CommandContext, JsonOption } from '../command.js';
import { withPlatform } from '../connect/with-platform.js';
import { printJson } from '../output/json.js';
import { formatTable, tableWidth } from '../output/table.js';
import { createPaint, type Paint } from '../output/terminal.js';
import { formatDuration } from '../units.js';

const unknown = 'The job has no result that can be read, and no worker answers: its waits and prompts are unknown.';

export function showTrace(jobId: string, { json }: JsonOption, context: CommandContext) {
  const { stdout } = context.io;
  return withPlatform(context, {}, async (platform, reporter) => {
    const { deployment } = platform.config;
    const { spans, isWhole } = await platform.patiently(() => readJobTrace(platform.temporal, { deployment, jobId }));
    if (!isWhole) reporter.notice(unknown);
    const resource = { 'service.name': 'sandflow', 'sandflow.deployment': deployment };
    if (json) printJson(stdout, otlpRequest(spans, resource));
    else stdout.write(waterfall(spans, { width: tableWidth(stdout), paint: createPaint(stdout), nowMs: Date.now() }));
  });
}

const colours = {
  workflow: 'bold',
  activity: 'cyan',
  wait: 'dim',
  timer: 'dim',
  prompt: 'green',
  stop: 'yellow',
} as const;
/** Columns of the bars, and of what stands beside them. */
const bars = { fewest: 12, most: 40, beside: 75 };

/** A row for each span, below the one that it is a part of, in the order of their starts. */
export function waterfall(
  spans: readonly TraceSpan[],
  { width, paint, nowMs }: { readonly width: number | undefined; readonly paint: Paint; readonly nowMs: number },
): string {
  const parts = new Map<string | null, TraceSpan[]>();
  for (const span of [...spans].sort((a, b) => a.startedAt - b.startedAt)) {
    parts.set(span.parent, parts.get(span.parent) ?? []);
    parts.get(span.parent)?.push(span);
  }
  const below = (parent: string | null, indent: string): { readonly label: string; readonly span: TraceSpan }[] =>
    (parts.get(parent) ?? []).flatMap((span) => [
      { label: indent + span.name, span },
      ...below(span.key, `${indent}  `),
    ]);
  const rows = below(null, '');
  const { startedAt: beganMs = 0, endedAt: endMs = null } = rows[0]?.span ?? {};
  const columns = Math.min(bars.most, Math.max(bars.fewest, (width ?? 120) - bars.beside));
  const share = (ms: number) => Math.min(1, Math.max(0, (ms - beganMs) / Math.max(1, (endMs ?? nowMs) - beganMs)));
  const barOf = ({ kind, startedAt, begunAt = startedAt, endedAt }: TraceSpan) => {
    const from = Math.min(columns - 1, Math.round(share(startedAt) * columns));
    const to = Math.max(from + 1, Math.round(share(endedAt ?? nowMs) * columns));
    const queued = Math.min(to - from - 1, Math.round(share(begunAt) * columns) - from);
    const work = kind === 'wait' || kind === 'timer' ? '▒' : '█';
    return `${' '.repeat(from)}${'░'.repeat(Math.max(0, queued))}${work.repeat(to - from - Math.max(0, queued))}`;
  };
  const cells = rows.map(({ label, span }) => [
    ...[label, barOf(span), `${formatDuration((span.endedAt ?? nowMs) - span.startedAt)}${span.endedAt ? '' : ' …'}`],
    attributesOf(span)
      .flatMap((pair) => pair.join('='))
      .join(' '),
  ]);
  const paintCell = (text: string, row: number, column: number) => {
    const { kind = 'wait', attributes } = rows[row]?.span ?? {};
    return column === 1 ? paint(attributes?.error ? 'red' : colours[kind], text) : text;
  };
  return formatTable(['SPAN', 'WHEN', 'FOR', `TRACE ${traceIdOf(spans)}`], cells, { width, last: 'cut', paintCell });
}
