/** The lines of `opencode run --format json`, read from those of version 1.18.33. */
import { z } from 'zod';
import type { AgentEvent } from '../agent.js';
import type { HearLine, TokenUsage } from './line-reader.js';
import { commandEvent, detailOf, messageEvents, toolEvent } from './tool-event.js';

const toolSchema = z.looseObject({
  tool: z.string(),
  state: z.looseObject({
    status: z.string(),
    input: z.record(z.string(), z.unknown()).nullish(),
    output: z.string().nullish(),
    error: z.string().nullish(),
    metadata: z.looseObject({ exit: z.number().nullish() }).nullish(),
  }),
});
const tokensSchema = z.looseObject({
  input: z.number(),
  output: z.number(),
  reasoning: z.number().nullish(),
  cache: z.looseObject({ read: z.number().nullish(), write: z.number().nullish() }).nullish(),
});
const lineSchema = z.union([
  z.looseObject({ type: z.literal('text'), part: z.looseObject({ text: z.string() }) }),
  z.looseObject({ type: z.literal('tool_use'), part: toolSchema }),
  z.looseObject({ type: z.literal('step_finish'), part: z.looseObject({ tokens: tokensSchema }) }),
  z.looseObject({
    type: z.literal('error'),
    error: z.looseObject({
      name: z.string().nullish(),
      data: z.looseObject({ message: z.string().nullish() }).nullish(),
    }),
  }),
]);

export function hearOpencode(): HearLine {
  let usage: TokenUsage = { of: 'prompt', inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 };
  return (json) => {
    const line = lineSchema.safeParse(json).data;
    switch (line?.type) {
      case 'text':
        return { events: messageEvents(line.part.text), result: line.part.text };
      case 'tool_use':
        return { events: [toolEnd(line.part)] };
      case 'step_finish':
        usage = added(usage, line.part.tokens);
        return { usage };
      case 'error':
        return { failure: line.error.data?.message ?? line.error.name ?? 'no reason given' };
      default:
        return {};
    }
  };
}

function toolEnd({ tool, state }: z.infer<typeof toolSchema>): AgentEvent {
  const { status, input, output, error, metadata } = state;
  const told = output ?? error ?? '';
  if (tool === 'bash' && typeof input?.command === 'string') {
    return commandEvent(input.command, { tool, exitCode: metadata?.exit ?? null, output: told });
  }
  return toolEvent(tool, { detail: detailOf(input ?? {}), failed: status === 'error', output: told });
}

/** Each step has the tokens of one call of the model. */
function added(before: TokenUsage, { input, output, reasoning, cache }: z.infer<typeof tokensSchema>): TokenUsage {
  const read = cache?.read ?? 0;
  return {
    of: 'prompt',
    inputTokens: before.inputTokens + input + read + (cache?.write ?? 0),
    cachedInputTokens: before.cachedInputTokens + read,
    outputTokens: before.outputTokens + output + (reasoning ?? 0),
  };
}
