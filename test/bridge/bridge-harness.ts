/** A bridge on port 0, a sender that signs, and workflows without a worker, whose histories show the signals. */
import { randomBytes } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { Registry } from 'prom-client';
import { ownedSandboxName } from '../../src/addresses/addresses.js';
import { type BridgeOptions, createBridge } from '../../src/bridge/index.js';
import { sandboxIdAlphabet } from '../../src/contract/workflow-safe/ids.js';
import type { SandboxEvent } from '../../src/protocol/messages.js';
import { deliveryHeadersFor } from '../../src/webhook/index.js';

export const secret = 'whsec_test';
const hex = (bytes: number) => randomBytes(bytes).toString('hex');

export const newEventId = () => `evt_${hex(16)}`;
export const newSandboxId = () =>
  `bx_${[...randomBytes(8)].map((byte) => sandboxIdAlphabet[byte % sandboxIdAlphabet.length]).join('')}`;

/** The name of a job's sandbox and the workflow that owns it. */
export function newOwned(step = 'main') {
  const jobId = `job-${hex(5)}`;
  const parts = { deployment: 'test', jobId, execution: '0123456789ab', step, generation: 1 };
  return { name: ownedSandboxName(parts), workflowId: `sf-test-${jobId}${step === 'main' ? '' : `/${step}`}` };
}

export interface EventFields {
  readonly type?: string;
  readonly sandboxId?: string;
  readonly name?: string;
  readonly id?: string;
}

export function eventBody({ type = 'sandbox.ready', sandboxId, name = 'a name', id }: EventFields = {}) {
  const key = type.startsWith('box.') ? 'box' : 'sandbox';
  const moved = type.endsWith('hydrated') ? {} : { previousState: 'provisioning', state: 'ready' };
  return {
    id: id ?? newEventId(),
    type,
    createdAt: '2026-01-02T03:04:05.000Z',
    data: { [key]: { id: sandboxId ?? newSandboxId(), name }, ...moved },
  };
}

export interface SendOptions {
  readonly secret?: string;
  readonly deliveryId?: string;
  readonly timestamp?: number;
  readonly headers?: Record<string, string>;
  /** Default: that of a bridge. */
  readonly path?: string;
}

/** Delivers as the service does; the body is sent exactly as given when it is a string. */
export async function deliver(url: string, body: object | string, options: SendOptions = {}) {
  const rawBody = typeof body === 'string' ? body : JSON.stringify(body);
  const id = typeof body === 'object' && 'id' in body ? String(body.id) : newEventId();
  const headers = deliveryHeadersFor({
    secret: options.secret ?? secret,
    deliveryId: options.deliveryId ?? id,
    timestamp: options.timestamp ?? Math.floor(Date.now() / 1000),
    rawBody,
    event: 'sandbox.ready',
  });
  const response = await fetch(`${url}${options.path ?? '/webhooks/sandbox'}`, {
    method: 'POST',
    headers: { ...headers, ...options.headers },
    body: rawBody,
  });
  return {
    status: response.status,
    text: (await response.text()).trim(),
    connection: response.headers.get('connection'),
  };
}

export async function startBridge(client: Client, options: Partial<BridgeOptions> = {}) {
  const registry = new Registry();
  const bridge = createBridge({ temporalClient: client, secrets: () => [secret], registry, ...options });
  const { url, port, metricsUrl = '' } = await bridge.listen({ port: 0, metrics: { port: 0 } });
  const metric = async (name: string, labels = '') => {
    const line = (await registry.metrics()).split('\n').find((one) => one.startsWith(`${name}${labels} `));
    return Number(line?.split(' ').at(-1) ?? 0);
  };
  return { bridge, url, port, metricsUrl, metric, close: () => bridge.close() };
}

/** A client whose workflows end with it. */
export async function connectClient(address: string) {
  const connection = await Connection.connect({ address });
  const client = new Client({ connection });
  const started: string[] = [];
  return {
    client,
    async startWaiting(workflowId: string, type = 'waiter') {
      await client.workflow.start(type, { workflowId, taskQueue: 'nobody-polls', args: [] });
      started.push(workflowId);
    },
    /** The events that a workflow was signalled, in order. */
    async signalsTo(workflowId: string): Promise<SandboxEvent[]> {
      const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
      return (events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: signalled }) => {
        const payload = signalled?.input?.payloads?.[0];
        return payload ? [defaultPayloadConverter.fromPayload<SandboxEvent>(payload)] : [];
      });
    },
    async close() {
      await Promise.all(started.map((workflowId) => client.workflow.getHandle(workflowId).terminate()));
      await connection.close();
    },
  };
}
