/** The streams of server-sent events with which the three interfaces of models answer. */
import { randomUUID } from 'node:crypto';

/** A model runs a command, or says something and ends its turn. */
export type Reply = { readonly command: string; readonly text?: never } | { readonly text: string };

interface Event {
  readonly type: string;
  readonly [field: string]: unknown;
}

const named = (events: readonly Event[]) =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');

/** Anthropic's Messages. */
export function messagesReply(reply: Reply): string {
  const id = randomUUID();
  const block =
    reply.text === undefined
      ? { type: 'tool_use', id: `toolu_${id}`, name: 'Bash', input: {} }
      : { type: 'text', text: '' };
  const delta =
    reply.text === undefined
      ? { type: 'input_json_delta', partial_json: JSON.stringify({ command: reply.command, description: 'Run it' }) }
      : { type: 'text_delta', text: reply.text };
  const message = { id: `msg_${id}`, type: 'message', role: 'assistant', model: 'scripted', content: [] };
  const usage = { input_tokens: 11, output_tokens: 1, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
  const stop = { stop_reason: reply.text === undefined ? 'tool_use' : 'end_turn', stop_sequence: null };
  return named([
    { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null, usage } },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: stop, usage: { output_tokens: 7 } },
    { type: 'message_stop' },
  ]);
}

/** OpenAI's Responses, with the tool that Codex gives to models. */
export function responsesReply(reply: Reply): string {
  const id = randomUUID();
  const item =
    reply.text === undefined
      ? {
          ...{ type: 'function_call', id: `fc_${id}`, call_id: `call_${id}`, status: 'completed' },
          ...{ name: 'exec_command', arguments: JSON.stringify({ cmd: reply.command, login: false }) },
        }
      : {
          ...{ type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed' },
          content: [{ type: 'output_text', text: reply.text, annotations: [] }],
        };
  const response = { id: `resp_${id}`, object: 'response' };
  const usage = {
    ...{ input_tokens: 11, input_tokens_details: { cached_tokens: 0 } },
    ...{ output_tokens: 7, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 18 },
  };
  return named([
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { ...response, status: 'completed', output: [item], usage } },
  ]);
}

/** OpenAI's chat completions, with the tool that opencode gives to models. */
export function chatReply(reply: Reply): string {
  const id = randomUUID();
  const chunk = { id, object: 'chat.completion.chunk', created: 1, model: 'scripted' };
  const call = (command: string) => ({
    ...{ index: 0, id: `call_${id}`, type: 'function' },
    function: { name: 'bash', arguments: JSON.stringify({ command, description: 'Run it' }) },
  });
  const delta = reply.text === undefined ? { tool_calls: [call(reply.command)] } : { content: reply.text };
  const chunks = [
    { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', ...delta }, finish_reason: null }] },
    {
      ...chunk,
      choices: [{ index: 0, delta: {}, finish_reason: reply.text === undefined ? 'tool_calls' : 'stop' }],
      usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
    },
  ];
  return [...chunks.map((one) => JSON.stringify(one)), '[DONE]'].map((data) => `data: ${data}\n\n`).join('');
}
