/** A proxy between the worker's client and the service that records every call and applies faults to chosen ones. */
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type EndpointName, endpoints } from '../../../../src/contract/endpoints/endpoints.js';
import { type Tag, tagHeader } from '../tagged-client.js';

export interface ProxiedCall extends Tag {
  readonly endpoint: EndpointName;
  /** Activity, endpoint, and the number of the job's call of this kind: `stopSandbox/stopSandbox#1`. */
  readonly site: string;
  readonly path: string;
  readonly isRead: boolean;
  /** The sandbox in the path, or null. */
  readonly sandboxId: string | null;
  /** The text of a call that sends a prompt. */
  readonly promptText?: string;
  struckBy: string | null;
  /** The service's answer, if it is kept and is JSON. */
  answer?: unknown;
}

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: Buffer;
}

/** One call that a fault controls. */
export interface Exchange {
  readonly call: ProxiedCall;
  readonly response: ServerResponse;
  /** Resolves when the caller has abandoned the call. */
  readonly gone: Promise<void>;
  /** Whether a sandbox belongs to the run. */
  owns(sandboxId: string): boolean;
  /** Makes the call and reads its answer. */
  forward(): Promise<Answer>;
  drop(): void;
}

export type Strike = (exchange: Exchange) => Promise<unknown>;

export interface Striker {
  readonly name: string;
  readonly strike: Strike;
}

/** Changes every answer of the service. */
export type Lens = (call: Pick<ProxiedCall, 'endpoint'>, answer: Answer) => Answer;

/** The faults for the calls of one job, and the record of these calls. */
export interface Tap {
  readonly isOf: (tag: Tag) => boolean;
  /** Keeps the service's answers. Default false. */
  readonly keepsAnswers?: boolean;
  readonly strikerOf: (call: ProxiedCall, nth: number) => Striker | undefined;
  /** The sandboxes of the run, for faults that distinguish them. Default: none. */
  readonly owns?: (sandboxId: string) => boolean;
  /** A variation of the service's answers. Default: unchanged. */
  readonly lens?: Lens;
  readonly before?: (call: ProxiedCall) => Promise<void>;
  readonly after?: (call: ProxiedCall) => Promise<void>;
}

export interface Tapped {
  readonly calls: readonly ProxiedCall[];
  remove(): void;
}

export interface FaultProxy {
  readonly url: string;
  tap(tap: Tap): Tapped;
  close(): Promise<void>;
}

export async function createFaultProxy(serviceUrl: string): Promise<FaultProxy> {
  const target = new URL(serviceUrl);
  const agent = new Agent({ keepAlive: true });
  const taps = new Set<Tap & { readonly calls: ProxiedCall[]; readonly counts: Map<string, number> }>();

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const { [tagHeader]: tagText, host: _, ...headers } = incoming.headers;
    const tag = typeof tagText === 'string' ? (JSON.parse(tagText) as Tag) : undefined;
    const forward = () =>
      new Promise<Answer>((resolve, reject) => {
        const onward = request({ ...address(target), agent, method: incoming.method, path: incoming.url, headers });
        onward.on('error', reject);
        onward.on('response', async (answer) => {
          const parts: Buffer[] = [];
          for await (const part of answer) parts.push(part as Buffer);
          const type = answer.headers['content-type'] ?? '';
          resolve({ status: answer.statusCode ?? 0, type, body: Buffer.concat(parts) });
        });
        onward.end(body);
      });
    const tapped = tag && [...taps].find(({ isOf }) => isOf(tag));
    const known = readEndpoint(incoming.method ?? '', relative(target, incoming.url ?? ''));
    if (!tapped || !known) return give(response, await forward());

    const kind = `${tag.activity}/${known.endpoint}`;
    const nth = (tapped.counts.get(kind) ?? 0) + 1;
    tapped.counts.set(kind, nth);
    const path = incoming.url ?? '';
    const call: ProxiedCall = {
      ...tag,
      ...known,
      site: `${kind}#${nth}`,
      path,
      promptText: promptOf(body),
      struckBy: null,
    };
    tapped.calls.push(call);
    await tapped.before?.(call);
    const striker = tapped.strikerOf(call, nth);
    const remembered = async () => {
      const given = await forward();
      const answer = tapped.lens?.(call, given) ?? given;
      if (tapped.keepsAnswers) call.answer = readJson(answer.body);
      return answer;
    };
    if (striker) {
      call.struckBy = striker.name;
      const gone = new Promise<void>((resolve) => response.once('close', resolve));
      const owns = tapped.owns ?? (() => false);
      await striker.strike({ call, response, gone, owns, forward: remembered, drop: () => void response.destroy() });
    } else {
      const answer = await remembered();
      await tapped.after?.(call);
      give(response, answer);
    }
  }

  const server = createServer((incoming, response) => {
    handle(incoming, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${target.pathname.replace(/\/$/, '')}`,
    tap(tap) {
      const known = { ...tap, calls: [] as ProxiedCall[], counts: new Map<string, number>() };
      taps.add(known);
      return { calls: known.calls, remove: () => void taps.delete(known) };
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      agent.destroy();
    },
  };
}

export function give(response: ServerResponse, { status, type, body }: Answer): void {
  response.writeHead(status, { 'content-type': type }).end(body);
}

export function readJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

function promptOf(body: Buffer): string | undefined {
  const { prompt } = (readJson(body) ?? {}) as { readonly prompt?: string };
  return prompt;
}

const address = ({ hostname, port }: URL) => ({ hostname, port });

function relative(target: URL, url: string): string {
  const base = target.pathname.replace(/\/$/, '');
  const path = url.split('?', 1)[0] ?? '';
  return path.startsWith(base) ? path.slice(base.length) : path;
}

const rows = Object.entries(endpoints).map(([name, { method, path }]) => ({
  endpoint: name as EndpointName,
  method: method as string,
  pattern: new RegExp(`^${path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
}));

/** @param path below the base URL */
export function readEndpoint(method: string, path: string) {
  for (const row of rows) {
    const match = row.method === method && row.pattern.exec(path);
    if (!match) continue;
    return { endpoint: row.endpoint, isRead: method === 'GET', sandboxId: match.groups?.sandboxId ?? null };
  }
  return undefined;
}
