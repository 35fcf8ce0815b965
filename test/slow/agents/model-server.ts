/**
 * A model without a model, on loopback, for the real programs of agents. It runs the command of a prompt's line
 * `Run: …`, and then answers with what the command printed and with the commands of all earlier prompts that the
 * request holds. So an answer shows what the agent remembers.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chatReply, messagesReply, type Reply, responsesReply } from './model-replies.js';

/** One part of the conversation that a request holds. */
interface Turn {
  readonly role: string;
  readonly text: string;
}

interface Content {
  readonly type?: string;
  readonly text?: string;
  readonly content?: string | readonly Content[];
}

interface RequestBody {
  readonly tools?: readonly unknown[];
  readonly messages?: readonly { readonly role: string; readonly content: string | readonly Content[] | null }[];
  readonly input?: readonly {
    readonly type?: string;
    readonly role?: string;
    readonly content?: string | readonly Content[];
    readonly output?: unknown;
  }[];
}

export interface ModelServer {
  /** Such as `http://127.0.0.1:1234`. */
  readonly url: string;
  readonly host: string;
  /** The requests that had tools, so that they were a turn of an agent. */
  turns(): number;
  close(): void;
}

export async function startModelServer(): Promise<ModelServer> {
  let turns = 0;
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://localhost');
    const reply = replies.find(([ending]) => pathname.endsWith(ending))?.[1];
    if (!reply || request.method !== 'POST') {
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end('{"error":{"type":"not_found_error","message":"The scripted model does not have this."}}');
      return;
    }
    const body: RequestBody = JSON.parse(await textOf(request));
    const isTurn = (body.tools ?? []).length > 0;
    if (isTurn) turns += 1;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(reply(isTurn ? replyTo(turnsOf(body)) : { text: 'A title' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    turns: () => turns,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const replies = [
  ['/messages', messagesReply],
  ['/responses', responsesReply],
  ['/chat/completions', chatReply],
] as const;

function replyTo(turns: readonly Turn[]): Reply {
  const asked = turns.flatMap(({ role, text }, index) =>
    role === 'user' ? [...text.matchAll(/^Run: (.*)$/gm)].map(([, command = '']) => ({ index, command })) : [],
  );
  const last = asked.at(-1);
  if (!last) return { text: 'There is nothing to run.' };
  const output = turns.slice(last.index).findLast(({ role }) => role === 'tool')?.text;
  if (output === undefined) return { command: last.command };
  const earlier = asked.slice(0, -1).map(({ command }) => command);
  return { text: `Printed: ${output.trim()}\nEarlier: ${earlier.join('; ') || 'nothing'}` };
}

/** Of any of the three interfaces. The result of a tool has the role `tool`. */
function turnsOf({ messages = [], input = [] }: RequestBody): Turn[] {
  const said = messages.flatMap(({ role, content }) =>
    typeof content === 'string'
      ? [{ role, text: content }]
      : (content ?? []).map((block) =>
          block.type === 'tool_result'
            ? { role: 'tool', text: plain(block.content) }
            : { role, text: block.text ?? '' },
        ),
  );
  const items = input.map(({ role, content, output }) =>
    output === undefined
      ? { role: role ?? 'assistant', text: plain(content) }
      : { role: 'tool', text: typeof output === 'string' ? output : JSON.stringify(output) },
  );
  return [...said, ...items];
}

function plain(content: string | readonly Content[] | undefined): string {
  return typeof content === 'string' ? content : (content ?? []).map(({ text }) => text ?? '').join('\n');
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}
