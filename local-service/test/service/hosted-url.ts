/** Requests to hosted URLs, whose names Node does not resolve. */
import { type IncomingHttpHeaders, type IncomingMessage, request as sendRequest } from 'node:http';
import type { Duplex } from 'node:stream';

interface HostedAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface HostedRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** True for a request as a proxy gets it, with the whole address. */
  readonly toProxy?: boolean;
}

/** The URL of a port, from the URL of its sandbox. */
export function portUrl(machineUrl: string, port: number, before = ''): URL {
  const url = new URL(machineUrl);
  url.hostname = `${before}${port}-${url.hostname}`;
  return url;
}

const optionsOf = (url: URL, { method = 'GET', headers = {}, toProxy = false }: HostedRequest) => ({
  ...{ host: '127.0.0.1', port: url.port, path: toProxy ? url.href : `${url.pathname}${url.search}`, method },
  headers: { host: url.host, ...headers },
  agent: false,
});

/** The answer as it begins. Read it, or end it. */
export function openHosted(url: URL, options: HostedRequest = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = sendRequest(optionsOf(url, options), resolve);
    sent.once('error', reject);
    sent.end(options.body);
  });
}

export async function askHosted(url: URL, options: HostedRequest = {}): Promise<HostedAnswer> {
  const answer = await openHosted(url, options);
  let text = '';
  for await (const chunk of answer.setEncoding('utf8')) text += chunk;
  return { status: answer.statusCode ?? 0, headers: answer.headers, text };
}

/** Asks for an upgrade. @returns the connection, or the status of the refusal */
export function upgradeHosted(url: URL, headers: Readonly<Record<string, string>> = {}): Promise<Duplex | number> {
  return new Promise((resolve, reject) => {
    const asked = { connection: 'Upgrade', upgrade: 'websocket', ...headers };
    const sent = sendRequest(optionsOf(url, { headers: asked }), (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    sent.once('upgrade', (_answer, socket, head) => {
      socket.unshift(head);
      resolve(socket);
    });
    sent.once('error', reject);
    sent.end();
  });
}
