/** Sandboxes that are created, shown, stopped and deleted otherwise. */

import type { Json } from './deviation.js';
import { answers, type Rows, refusals, refuseAs, rename, replace, requests, sandboxes } from './deviation.js';

const creates = ['createSandbox', 'forkSandbox'] as const;
const deletes = ['deleteSandbox', 'deleteSnapshot'] as const;
const required = ['id', 'name', 'state', 'desktopAvailable', 'snapshotAvailable'];

const noField = (name: string) =>
  requests(creates, ({ body }) => name in body && refuseAs(400, 'invalid_request', `Unknown field: ${name}.`));

export const ofSandboxes = {
  'A-names': {
    request: ({ body: { name } }) =>
      String(name).length > 40 && refuseAs(400, 'invalid_name', 'name: must have at most 40 characters.'),
  },
  'A-request-form': noField('name'),
  'A-request-form.ttl': noField('ttlSeconds'),
  'A-request-form.uuid-keys': requests(creates, ({ headers: { 'idempotency-key': key } }) => {
    if (key !== undefined && !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(String(key)))
      refuseAs(400, 'invalid_request', 'Idempotency-Key must be a UUID.');
  }),
  'A-header-family': {
    request: ({ headers }) => {
      headers['x-svc-confirm-delete'] = headers['x-box-confirm-delete'];
    },
    answer: ({ body }) => {
      for (const text of [body, (body.error ?? {}) as Json])
        if (typeof text.message === 'string') text.message = text.message.replace('X-Svc-', 'X-Box-');
    },
  },
  'A-confirmation': refusals((body, shown) => {
    if (body.code !== 'confirmation_required') return;
    shown.status = 412;
    for (const one of [body, body.error]) Object.assign(one, { status: 412, code: 'precondition_failed' });
  }),
  'A-created-by': sandboxes((sandbox) => (sandbox.createdBy = 'Somebody Else')),
  'A-creator-logins': sandboxes((sandbox) => (sandbox.holdsCreatorLogins = true)),
  'A-hosted-url': sandboxes((sandbox) => (sandbox.url = String(sandbox.url ?? '').split('?')[0] || null)),
  'A-init-state': sandboxes((sandbox) => {
    if (/^(init|provisioning)$/.test(String(sandbox.state))) sandbox.state = 'queued_for_machine';
  }),
  'A-machine': sandboxes((sandbox) => Object.assign(sandbox, { vcpu: 3, memoryGB: 12, machineProvider: 'hetzner' })),
  'A-prompt-states': sandboxes((sandbox) => {
    if (sandbox.state === 'idle') sandbox.state = 'ready';
  }),
  'A-prompt-states.late': sandboxes((sandbox, { seen }) => {
    if (sandbox.state === 'running' && seen(`${sandbox.id} runs ${sandbox.updatedAt}`).forMs < 2_500)
      sandbox.state = 'idle';
  }),
  'A-snapshot-status': sandboxes((sandbox) => {
    if (sandbox.lastSnapshotStatus === 'queued') sandbox.lastSnapshotStatus = 'waiting';
  }),
  'A-read-lag': {
    request: ({ endpoint, params: { sandboxId }, seen }) =>
      endpoint === 'getSandbox' &&
      seen(`read ${sandboxId}`).times <= 3 &&
      refuseAs(404, 'sandbox_not_found', `The sandbox ${sandboxId} does not exist.`),
    answer: ({ body }, { nowMs }) => {
      if (!Array.isArray(body.sandboxes)) return;
      body.sandboxes = body.sandboxes.filter(({ createdAt }) => nowMs - Date.parse(createdAt) >= 6_000);
    },
  },
  'A-resume': answers('resumeSandbox', (body, _, { params }) =>
    rename(Object.assign(body, { id: params.sandboxId }), { sandbox: 'resumed' }),
  ),
  'A-fork': {
    answer: ({ body }, { endpoint }) => {
      if (endpoint !== 'forkSandbox') return;
      rename(body, { sourceSandboxId: 'forkedFrom' });
      for (const one of [body, (body.error ?? {}) as Json])
        if (one.code === 'fork_failed') one.code = 'source_not_ready';
    },
  },
  'A-stop-answer': answers('stopSandbox', (body, _, { params: { sandboxId: id } }) => {
    const { ok, type, stop } = body;
    replace(body, { ok, type, id, sandbox: { id, stop } });
  }),
  'A-stop-answer.other-key': answers('stopSandbox', (body, _, { params: { sandboxId: id } }) => {
    rename(Object.assign(body, { id }), { stop: 'stopOperation' });
  }),
  'A-stop-answer.only-id': answers('stopSandbox', (body) => {
    const { ok, type, id: stopId } = body;
    replace(body, { ok, type, stopId });
  }),
  'A-stop-read': answers('getStop', (body, _, { params }) => (body.id = params.sandboxId)),
  'A-stop-read.foreign': answers('getStop', (body) => (body.id = 'op_1')),
  'A-deletion-operation': answers([...deletes, 'getDeletionOperation'], (body, _, { endpoint }) => {
    const { ok, type, operation } = body as { ok: true; type: string; operation: Json };
    replace(body, {
      ok,
      type,
      ...(endpoint === 'getDeletionOperation' ? operation : { operation: { id: operation.id } }),
    });
  }),
  'A-deletion-operation.other-key': answers(deletes, (body) => {
    delete body.operation;
    rename(body, { operationId: 'deletionId' });
  }),
  'A-deletion-operation.at-once': answers(deletes, (body, shown) => {
    shown.status = 200;
    replace(body, { ok: true, type: body.type });
  }),
  'A-sharing': answers(['shareSandbox', 'unshareSandbox'], (body) => replace(body, { ok: true, type: body.type })),
  'A-usage': answers('getSandboxUsage', (body) =>
    replace(body, { ok: true, type: body.type, ...(body.usage as Json) }),
  ),
  'A-snapshot-delete': answers('deleteSnapshot', (body, shown) => {
    shown.status = 200;
    replace(body, { ok: true, type: body.type });
  }),
  'A-snapshot-name': requests('updateSandbox', ({ body }) => delete body.snapshotName),
  'A-snapshot-record': {
    answer: ({ body }) => {
      for (const one of [body.snapshot, body.snapshots].flat()) if (one) rename(one as Json, { id: 'snapshotId' });
    },
  },
  'A-snapshots-kept': answers(
    'listSandboxSnapshots',
    (body) => (body.snapshots = (body.snapshots as Json[]).slice(-1)),
  ),
  'A-snapshot-tree': answers('getSnapshotTree', (body) => rename(body, { entries: 'files' })),
  'bare-sandboxes': sandboxes((sandbox) => {
    replace(sandbox, Object.fromEntries(Object.entries(sandbox).filter(([name]) => required.includes(name))));
  }),
  'no-auto-stop-fields': sandboxes((sandbox) => {
    delete sandbox.ttlSeconds;
    delete sandbox.archiveAfter;
  }),
  'no-creation-times': sandboxes((sandbox) => delete sandbox.createdAt),
  'no-stop-on-sandboxes': sandboxes((sandbox) => delete sandbox.stop),
  'numbers-as-texts': sandboxes((sandbox) => {
    for (const [name, value] of Object.entries(sandbox)) if (typeof value === 'number') sandbox[name] = String(value);
  }),
} satisfies Rows;
