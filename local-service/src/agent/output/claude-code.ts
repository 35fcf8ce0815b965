/** The lines of `claude --print --verbose --output-format stream-json`, read from those of version 2.1.332. */
import { z } from 'zod';
import type { AgentEvent } from '../agent.js';
import type { Heard, HearLine } from './line-reader.js';
import { boundedStart, maxEventBytes } from './output-text.js';
import { boundedLine, commandEvent, detailOf, messageEvents, toolEvent } from './tool-event.js';

/** A field of another type is as good as missing: it must not cost the rest of its line. */
const tokens = z.number().nullish().catch(undefined);
const usageSchema = z.looseObject({
  input_tokens: tokens,
  cache_creation_input_tokens: tokens,
  cache_read_input_tokens: tokens,
  output_tokens: tokens,
});
const blockSchema = z.union([
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({
    type: z.literal('tool_use'),
    id: z.string(),
    name: z.string(),
    input: z.record(z.string(), z.unknown()),
  }),
  z.looseObject({
    type: z.literal('tool_result'),
    tool_use_id: z.string(),
    content: z.unknown(),
    is_error: z.boolean().nullish().catch(undefined),
  }),
]);
type Block = z.infer<typeof blockSchema>;
const spokenSchema = z.looseObject({
  type: z.enum(['assistant', 'user']),
  message: z.looseObject({ content: z.array(z.unknown()) }),
});
const resultSchema = z.looseObject({
  type: z.literal('result'),
  subtype: z.string().nullish().catch(undefined),
  is_error: z.boolean().nullish().catch(undefined),
  result: z.string().nullish().catch(undefined),
  errors: z.array(z.string()).nullish().catch(undefined),
  usage: usageSchema.nullish().catch(undefined),
});

/** A call of a tool. `command` is that of a shell, and null for any other tool. */
interface Call {
  readonly name: string;
  readonly command: string | null;
  readonly detail: string;
}

/** More calls at once are those of a program that does not end them. */
const maxRunning = 256;

/** A tool is told once its result is there. Its input and its result are on two lines. */
export function hearClaudeCode(): HearLine {
  const running = new Map<string, Call>();
  const eventsOf = (block: Block): AgentEvent[] => {
    if (block.type === 'text') return messageEvents(block.text);
    if (block.type === 'tool_use') {
      running.set(block.id, callOf(block));
      const [oldest] = running.keys();
      if (running.size > maxRunning && oldest !== undefined) running.delete(oldest);
    }
    if (block.type !== 'tool_result') return [];
    const call = running.get(block.tool_use_id);
    if (!call) return [];
    running.delete(block.tool_use_id);
    return [endOf(call, { text: textOf(block.content), failed: block.is_error === true })];
  };
  return (line) => {
    const spoken = spokenSchema.safeParse(line);
    if (spoken.success) {
      // What the user says is the prompt itself, or instructions of the program.
      const isAgent = spoken.data.type === 'assistant';
      const blocks = spoken.data.message.content.flatMap((block) => blockSchema.safeParse(block).data ?? []);
      return { events: blocks.filter(({ type }) => isAgent || type === 'tool_result').flatMap(eventsOf) };
    }
    const result = resultSchema.safeParse(line);
    return result.success ? endHeard(result.data) : {};
  };
}

function callOf({ name, input }: Extract<Block, { type: 'tool_use' }>): Call {
  const isShell = name === 'Bash' && typeof input.command === 'string';
  return {
    name: boundedLine(name),
    command: isShell ? boundedStart(String(input.command), maxEventBytes) : null,
    detail: detailOf(input),
  };
}

function endOf(
  { name, command, detail }: Call,
  { text, failed }: { readonly text: string; readonly failed: boolean },
): AgentEvent {
  if (command === null) return toolEvent(name, { detail, failed, output: text });
  const code = failed ? /^Exit code (\d+)\n?/.exec(text) : null;
  const exitCode = failed ? (code ? Number(code[1]) : null) : 0;
  return commandEvent(command, { tool: name, exitCode, output: text.slice(code?.[0].length ?? 0) });
}

function endHeard({ subtype, is_error: isError, result, errors, usage }: z.infer<typeof resultSchema>): Heard {
  const told = result ?? '';
  const failure = told || errors?.join('\n') || subtype || 'no reason given';
  const read = usage?.cache_read_input_tokens ?? 0;
  return {
    ...(isError === true ? { failure } : { result: told }),
    ...(usage && {
      usage: {
        of: 'prompt' as const,
        inputTokens: (usage.input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0) + read,
        cachedInputTokens: read,
        outputTokens: usage.output_tokens ?? 0,
      },
    }),
  };
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  const parts = z.array(z.looseObject({ text: z.string().optional() })).safeParse(content);
  return parts.success ? parts.data.flatMap(({ text }) => text ?? []).join('\n') : '';
}
