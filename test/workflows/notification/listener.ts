/** The receiver of notifications: an HTTP server that keeps its requests, and the deliveries of a workflow. */
import { createServer, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WorkflowHandle } from '@temporalio/client';
import { expect } from 'vitest';
import { notificationPrefix } from '../../../src/addresses/addresses.js';
import type { Stand } from '../workflow-harness.js';

interface Told {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}
type Answer = number | { readonly status: number; readonly headers?: OutgoingHttpHeaders; readonly body?: string };

export interface Listener {
  readonly url: string;
  readonly told: readonly Told[];
  toldOf(workflowId: string): Told[];
  /** The next statuses, then 204. Replaces those of an earlier call. */
  answerWith(...answers: Answer[]): void;
  close(): Promise<void>;
}

export async function openListener(): Promise<Listener> {
  const told: Told[] = [];
  const answers: Answer[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    told.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
    const answer = answers.shift() ?? 204;
    const { status, headers, body = '' } = typeof answer === 'number' ? { status: answer } : answer;
    response.writeHead(status, headers).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    told,
    toldOf: (workflowId) => told.filter(({ body }) => JSON.parse(body).workflowId === workflowId),
    answerWith: (...next) => void answers.splice(0, answers.length, ...next),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The deliveries that Temporal has started for a workflow, once there are this many. */
export async function deliveriesOf(stand: Stand, workflowId: string, count: number): Promise<WorkflowHandle[]> {
  const found = async () => {
    const query = `WorkflowId STARTS_WITH '${notificationPrefix(workflowId)}/'`;
    const handles: WorkflowHandle[] = [];
    for await (const { workflowId: id } of stand.client.workflow.list({ query })) {
      handles.push(stand.client.workflow.getHandle(id));
    }
    return handles;
  };
  await expect.poll(async () => (await found()).length).toBe(count);
  return found();
}
