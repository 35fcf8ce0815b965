/** The lines of `codex exec --json`, read from those of version 0.171.0. */
import { z } from 'zod';
import type { Heard, HearLine, TokenUsage } from './line-reader.js';
import { commandEvent, detailOf, messageEvents, toolEvent } from './tool-event.js';

const itemSchema = z.union([
  z.looseObject({ type: z.literal('agent_message'), text: z.string() }),
  z.looseObject({
    type: z.literal('command_execution'),
    command: z.string(),
    aggregated_output: z.string().nullish(),
    exit_code: z.number().nullish(),
  }),
  z.looseObject({
    type: z.literal('file_change'),
    changes: z.array(z.looseObject({ path: z.string(), kind: z.string() })),
    status: z.string().nullish(),
  }),
  z.looseObject({
    type: z.literal('mcp_tool_call'),
    server: z.string(),
    tool: z.string(),
    arguments: z.record(z.string(), z.unknown()).nullish(),
    status: z.string().nullish(),
  }),
  z.looseObject({ type: z.literal('web_search'), query: z.string() }),
]);
const usageSchema = z.looseObject({
  input_tokens: z.number(),
  cached_input_tokens: z.number().nullish(),
  output_tokens: z.number(),
});
const lineSchema = z.union([
  z.looseObject({ type: z.literal('item.completed'), item: itemSchema }),
  z.looseObject({
    type: z.literal('turn.completed'),
    // A turn has completed, whatever it says of its tokens.
    usage: usageSchema.optional().catch(undefined),
  }),
  z.looseObject({ type: z.literal('turn.failed'), error: z.looseObject({ message: z.string() }) }),
  z.looseObject({ type: z.literal('error'), message: z.string() }),
]);

export function hearCodex(): HearLine {
  return (json) => {
    const line = lineSchema.safeParse(json).data;
    switch (line?.type) {
      case 'item.completed':
        return heardOf(line.item);
      case 'turn.completed':
        // A turn completes despite errors that it has survived.
        return { failure: undefined, ...(line.usage && { usage: usageOf(line.usage) }) };
      case 'turn.failed':
        return { failure: line.error.message };
      case 'error':
        return { failure: line.message };
      default:
        return {};
    }
  };
}

/** The program adds up all turns of the thread. */
function usageOf({ input_tokens, cached_input_tokens, output_tokens }: z.infer<typeof usageSchema>): TokenUsage {
  return {
    of: 'conversation',
    inputTokens: input_tokens,
    cachedInputTokens: cached_input_tokens ?? 0,
    outputTokens: output_tokens,
  };
}

function heardOf(item: z.infer<typeof itemSchema>): Heard {
  switch (item.type) {
    case 'agent_message':
      return { events: messageEvents(item.text), result: item.text };
    case 'command_execution': {
      const { aggregated_output: output, exit_code: exitCode } = item;
      const told = { tool: 'shell', exitCode: exitCode ?? null, output: output ?? '' };
      return { events: [commandEvent(withoutShell(item.command), told)] };
    }
    case 'file_change': {
      const detail = item.changes.map(({ kind, path }) => `${kind} ${path}`).join(', ');
      return { events: [toolEvent('file change', { detail, failed: isFailed(item.status), output: '' })] };
    }
    case 'mcp_tool_call': {
      const detail = detailOf(item.arguments ?? {});
      const told = { detail, failed: isFailed(item.status), output: '' };
      return { events: [toolEvent(`${item.server}.${item.tool}`, told)] };
    }
    case 'web_search':
      return { events: [toolEvent('web search', { detail: item.query, failed: false, output: '' })] };
  }
}

const isFailed = (status: string | null | undefined) => status === 'failed';

/** `/bin/bash -lc 'ls'` and `/bin/bash -c 'ls'` → `ls`; a command with quotes of its own stays as it is. */
function withoutShell(command: string): string {
  return /^\/(?:usr\/)?bin\/\w*sh -l?c '([^']*)'$/.exec(command)?.[1] ?? command;
}
