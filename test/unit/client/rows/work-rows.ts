import { id, type Row } from './row.js';

/** Prompts, files, commands; the machine; snapshots. */
export const workRows = {
  sendPrompt: {
    call: (c) => c.sendPrompt(id, { prompt: 'hello', new: true }),
    sends: `POST /v1/sandboxes/${id}/prompt`,
    body: { new: true, prompt: 'hello' },
    answer: { promptId: 'prm_1', conversationId: 'conv_1' },
  },
  getPrompt: {
    call: (c) => c.getPrompt(id, 'prm_1'),
    sends: `GET /v1/sandboxes/${id}/prompts/prm_1`,
    answer: { prompt: { id: 'prm_1', status: 'queued' } },
  },
  listEvents: {
    call: (c) => c.listEvents(id, { conversation: 'conv_1', after: 'sev_1' }),
    sends: `GET /v1/sandboxes/${id}/events?conversation=conv_1&after=sev_1`,
    answer: { events: [] },
  },
  interruptSandbox: {
    call: (c) => c.interruptSandbox(id, { conversation: 'conv_1' }),
    sends: `POST /v1/sandboxes/${id}/interrupt?conversation=conv_1`,
    answer: { interrupted: 1 },
  },
  readFile: {
    call: (c) => c.readFile(id, 'a b/ü&c'),
    sends: `GET /v1/sandboxes/${id}/files?path=a+b%2F%C3%BC%26c`,
    answer: { path: 'a b/ü&c', encoding: 'utf8', content: 'x', size: 1 },
  },
  writeFile: {
    call: (c) => c.writeFile(id, { path: 'a', content: 'ü' }),
    sends: `PUT /v1/sandboxes/${id}/files`,
    body: { content: 'ü', path: 'a' },
    answer: { path: 'a', size: 2 },
  },
  runCommand: {
    call: (c) => c.runCommand(id, { command: 'true' }),
    sends: `POST /v1/sandboxes/${id}/commands`,
    body: { command: 'true' },
    answer: { exitCode: 0, stdout: '', stderr: '' },
  },
  listProcesses: {
    call: (c) => c.listProcesses(id),
    sends: `GET /v1/sandboxes/${id}/processes`,
    answer: { live: true, processes: [{ pid: 1, command: 'sh' }] },
  },
  downloadArtifact: {
    call: (c, to) => c.downloadArtifact(id, 'out/a b', { to }),
    sends: `GET /v1/sandboxes/${id}/artifacts?path=out%2Fa+b`,
  },
  openDesktop: {
    call: (c) => c.openDesktop(id, { vnc: '1', publicAccess: true }),
    sends: `POST /v1/sandboxes/${id}/desktop?vnc=1`,
    body: { publicAccess: true },
    answer: { url: 'https://a.example/?_token=x' },
  },
  setSshKey: {
    call: (c) => c.setSshKey(id, { publicKey: 'ssh-ed25519 AAAA' }),
    sends: `POST /v1/sandboxes/${id}/sshkey`,
    body: { publicKey: 'ssh-ed25519 AAAA' },
    answer: { sshEndpoint: null },
  },
  listSnapshots: { call: (c) => c.listSnapshots(), sends: 'GET /v1/snapshots', answer: { snapshots: [] } },
  listSandboxSnapshots: {
    call: (c) => c.listSandboxSnapshots(id),
    sends: `GET /v1/sandboxes/${id}/snapshots`,
    answer: { snapshots: [{ id: 'snap_1' }] },
  },
  getLatestSnapshot: {
    call: (c) => c.getLatestSnapshot(id),
    sends: `GET /v1/sandboxes/${id}/snapshots/latest`,
    answer: { snapshot: { id: 'snap_1' } },
  },
  getSnapshotTree: {
    call: (c) => c.getSnapshotTree('snap_1', { path: 'src' }),
    sends: 'GET /v1/snapshots/snap_1/tree?path=src',
    answer: { entries: [{ path: 'src/a', type: 'file', size: 1 }] },
  },
  downloadSnapshotFile: {
    call: (c, to) => c.downloadSnapshotFile('snap_1', 'a', { to }),
    sends: 'GET /v1/snapshots/snap_1/files?path=a',
  },
  downloadSnapshot: {
    call: (c, to) => c.downloadSnapshot('snap_1', { to }),
    sends: 'GET /v1/snapshots/snap_1/download',
  },
  deleteSnapshot: {
    call: (c) => c.deleteSnapshot('snap_1'),
    sends: 'DELETE /v1/snapshots/snap_1',
    confirms: 'snap_1',
    answer: { operationId: 'del_1' },
  },
} as const satisfies Record<string, Row>;
