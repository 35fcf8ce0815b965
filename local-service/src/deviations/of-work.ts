/** Prompts, histories, files, commands and the machine, otherwise. */
import { answers, events, type Json, type Rows, refuseAs, rename, replace, requests, showHtml } from './deviation.js';

const finalWords: Readonly<Record<string, string>> = {
  queued: 'pending',
  running: 'in_progress',
  completed: 'succeeded',
  failed: 'errored',
  interrupted: 'aborted',
};
const downloads = ['downloadArtifact', 'downloadSnapshotFile'] as const;
const promptRecord = (change: (prompt: Json, body: Json) => void) =>
  answers('getPrompt', (body) => change(body.prompt as Json, body));
const numberOfEvent = ({ id }: Json) => Number.parseInt(String(id).slice('sev_'.length), 16);
/** Events whose ids are digits. `after` takes these. */
const numberedEvents = (idOf: (event: Json) => unknown) => ({
  ...events((event) => (event.id = idOf(event))),
  ...requests('listEvents', ({ query }) => {
    for (const name of ['after', 'cursor']) {
      const id = query[name];
      if (id !== undefined)
        query[name] = `sev_${/^\d{1,15}$/.test(id) ? Number(id).toString(16).padStart(24, '0') : ''}`;
    }
  }),
});
/** Pages of five events. */
const eventPages = (tell: (body: Json, last: string) => void) => ({
  ...requests('listEvents', ({ query }) =>
    Object.assign(query, { limit: '5' }, query.cursor && { after: query.cursor }),
  ),
  ...answers('listEvents', (body) => {
    const rows = body.events as Json[];
    if (rows.length === 5) tell(body, String(rows.at(-1)?.id));
  }),
});

export const ofWork = {
  'A-model-names': promptRecord((prompt) => {
    if (prompt.model) prompt.model = `vendor/${prompt.model}-20250514`;
  }),
  'A-prompt-id': answers('sendPrompt', (body) => delete body.promptId),
  'A-prompt-id.numbers': {
    request: ({ params, numbered }) => {
      if (params.promptId) params.promptId = numbered[Number(params.promptId) - 1] ?? params.promptId;
    },
    answer: ({ body }, { numbered }) => {
      for (const one of [body, ...((body.events ?? []) as Json[]), (body.prompt ?? {}) as Json]) {
        const field = one === body.prompt ? 'id' : 'promptId';
        if (!one[field]) continue;
        if (!numbered.includes(String(one[field]))) numbered.push(String(one[field]));
        one[field] = numbered.indexOf(String(one[field])) + 1;
      }
    },
  },
  'A-prompt-record': promptRecord((prompt) => (prompt.status = finalWords[String(prompt.status)])),
  'A-prompt-record.run': promptRecord((prompt, body) => {
    rename(prompt, { status: 'state' });
    rename(body, { prompt: 'run' });
  }),
  'A-prompt-record.not-found': requests('getPrompt', () => refuseAs(404, 'not_found', 'There is no such prompt.')),
  'A-prompt-record.not-allowed': requests('getPrompt', () =>
    refuseAs(405, 'method_not_allowed', 'Prompts are not read.'),
  ),
  'A-prompt-record.html': answers('getPrompt', (_, shown) => showHtml(shown, 404)),
  'A-event-ids': numberedEvents(numberOfEvent),
  'A-event-ids.texts': numberedEvents((event) => String(numberOfEvent(event))),
  'A-events.words': events((event) => (event.type = String(event.type).replace('prompt.', 'run_'))),
  'A-events.epoch': events((event) => (event.createdAt = Date.parse(String(event.createdAt)))),
  'A-events.timestamps': events((event) => rename(event, { createdAt: 'timestamp' })),
  'A-events.newest-first': answers('listEvents', (body) => (body.events as Json[]).reverse()),
  'A-events.cursor': eventPages((body, last) => (body.cursor = last)),
  'A-events.has-more': eventPages((body) => (body.hasMore = true)),
  'A-events': events((event) => rename(event, { id: 'eventId', type: 'kind', createdAt: 'ts' })),
  'A-interrupt': answers('interruptSandbox', (body) => rename(body, { interrupted: 'stopped' })),
  'A-files': answers('readFile', (body) => {
    const { ok, type, path, content: contents } = body;
    replace(body, { ok, type, file: { path, contents } });
  }),
  'A-files.bare': answers('readFile', (body) => {
    for (const name of ['path', 'encoding', 'size']) delete body[name];
  }),
  'A-files.raw': answers('readFile', ({ content, encoding }, shown) => {
    shown.body = Buffer.from(String(content), encoding as BufferEncoding);
    shown.headers['content-type'] = 'application/octet-stream';
  }),
  'A-file-limit': requests('writeFile', ({ body: { content } }) => {
    if (String(content).length > 1024 * 1024) refuseAs(413, 'too_large', 'The file is larger than 1 MiB.');
  }),
  'A-raw-bytes': requests(downloads, ({ query }) => Object.assign(query, { path: query.file })),
  'A-command': answers('runCommand', (body) => rename(body, { exitCode: 'code', stdout: 'output', stderr: 'errors' })),
  'A-command.later': answers('runCommand', (body, shown) => {
    shown.status = 202;
    replace(body, { ok: true, type: 'command.accepted', commandId: body.commandId, status: 'running' });
  }),
  'A-posix-shell': requests('runCommand', ({ body }) => {
    body.command = `PATH=/nonexistent; ${body.command}`;
  }),
  'A-process-samples': answers('listProcesses', (body) => (body.sampledAt ??= new Date(0).toISOString())),
  'A-desktop': {
    answer: ({ body }, { endpoint }) => {
      if (endpoint !== 'openDesktop') return;
      rename(body, { url: 'streamUrl' });
      for (const one of [body, (body.error ?? {}) as Json])
        if (one.code === 'desktop_not_available') one.code = 'no_desktop';
    },
  },
  'A-sshkey': answers('setSshKey', (body) => rename(body, { sshEndpoint: 'endpoint' })),
  'A-provider-models': answers('listProviderModels', (body) => {
    for (const one of body.providers as Json[]) rename(one, { provider: 'name' });
  }),
} satisfies Rows;
