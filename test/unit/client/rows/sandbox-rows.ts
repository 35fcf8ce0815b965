import { aSandbox } from '../http-harness.js';
import { id, type Row } from './row.js';

const stop = { id: 'stop_1', status: 'pending' };

export const sandboxRows = {
  listSandboxes: {
    call: (c) => c.listSandboxes({ include: 'cost', limit: 5, cursor: undefined }),
    sends: 'GET /v1/sandboxes?include=cost&limit=5',
    answer: { sandboxes: [aSandbox] },
  },
  createSandbox: {
    call: (c) => c.createSandbox({ name: 'demo', ttlSeconds: null }),
    sends: 'POST /v1/sandboxes',
    body: { name: 'demo', ttlSeconds: null },
    answer: { sandbox: aSandbox },
  },
  getSandbox: { call: (c) => c.getSandbox(id), sends: `GET /v1/sandboxes/${id}`, answer: { sandbox: aSandbox } },
  updateSandbox: {
    call: (c) => c.updateSandbox(id, { name: 'new' }),
    sends: `PATCH /v1/sandboxes/${id}`,
    body: { name: 'new' },
    answer: { sandbox: aSandbox },
  },
  deleteSandbox: {
    call: (c) => c.deleteSandbox(id),
    sends: `DELETE /v1/sandboxes/${id}`,
    confirms: id,
    answer: { operationId: 'del_1', operation: { id: 'del_1', status: 'pending' } },
  },
  stopSandbox: {
    call: (c) => c.stopSandbox(id),
    sends: `POST /v1/sandboxes/${id}/stop`,
    answer: { id: 'stop_1', stop },
  },
  getStop: {
    call: (c) => c.getStop(id, 'stop_1'),
    sends: `GET /v1/sandboxes/${id}/stops/stop_1`,
    answer: { id: 'stop_1', stop },
  },
  resumeSandbox: {
    call: (c) => c.resumeSandbox(id, { type: 'large' }),
    sends: `POST /v1/sandboxes/${id}/resume`,
    body: { type: 'large' },
    answer: { sandbox: aSandbox },
  },
  forkSandbox: {
    call: (c) => c.forkSandbox(id, { name: 'copy', ttlSeconds: 60 }),
    sends: `POST /v1/sandboxes/${id}/fork`,
    body: { name: 'copy', ttlSeconds: 60 },
    answer: { sandbox: { ...aSandbox, id: 'bx_33334444' }, sourceSandboxId: id },
  },
  getSandboxUsage: {
    call: (c) => c.getSandboxUsage(id),
    sends: `GET /v1/sandboxes/${id}/usage`,
    answer: { usage: { since: '2026-01-01T00:00:00.000Z', seconds: 60, dollars: 0.01 } },
  },
  shareSandbox: {
    call: (c) => c.shareSandbox(id),
    sends: `POST /v1/sandboxes/${id}/share`,
    answer: { sandbox: aSandbox, message: 'shared' },
  },
  unshareSandbox: {
    call: (c) => c.unshareSandbox(id),
    sends: `POST /v1/sandboxes/${id}/unshare`,
    answer: { sandbox: aSandbox, message: 'private' },
  },
} as const satisfies Record<string, Row>;
