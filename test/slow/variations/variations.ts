/**
 * Services that differ in what the specification leaves open: every deviation of the local service that the work meets,
 * some together, and what a proxy adds to them. Each row says what becomes of the work; `completed` where it says nothing.
 */
import { createHash } from 'node:crypto';
import { type DeviationName, deviationNames } from '../../../local-service/src/index.js';
import type { Json } from './rewriting-proxy.js';
import {
  atFirst,
  both,
  empty,
  gzipped,
  inAnswers,
  inEvents,
  inPrompts,
  inRefusals,
  inSandboxes,
  instead,
  type Next,
  page,
  paged,
  part,
  refusal,
  slow,
  stale,
} from './rewritings.js';
import type { Variation } from './run-variation.js';

type Row = Variation;

const rename = (from: string, to: string) => (one: Json) => {
  if (!(from in one)) return;
  one[to] = one[from];
  delete one[from];
};
const drop =
  (...names: readonly string[]) =>
  (one: Json) => {
    for (const name of names) delete one[name];
  };
const steps =
  (...changes: readonly ((one: Json) => void)[]) =>
  (one: Json) => {
    for (const change of changes) change(one);
  };
const word = (field: string, words: Readonly<Record<string, string>>) => (one: Json) => {
  one[field] = words[String(one[field])] ?? one[field];
};
const noPromptId = ['A-prompt-id'] as const;
const ms = (time: unknown) => Date.parse(String(time));
const cursor = ({ at, size, isLast }: Next) => (isLast ? null : `at-${at + size}`);
/** The address of the next page. */
const link = ({ at, size, isLast, url }: Next) => (isLast ? null : url(`page=${at / size + 2}`));

const linkHeader = (next: Next) => (next.isLast ? null : `<${link(next)}>; rel="next"`);

const ofPrompts: Readonly<Record<string, Row>> = {
  'the record of a prompt without a field of its own': {
    rewrites: inPrompts((prompt, body) => {
      Object.assign(body, prompt);
      delete body.prompt;
    }),
  },
  'the record of a prompt without a status': { rewrites: inPrompts(drop('status')) },
  'the record of a prompt without an answer': { rewrites: inPrompts(drop('result')) },
  'other words for statuses, without an end': {
    rewrites: inPrompts((prompt) => {
      word('status', { queued: 'pending', running: 'in_progress', completed: 'succeeded' })(prompt);
      delete prompt.endedAt;
    }),
  },
  'statuses in capitals': {
    rewrites: inPrompts((prompt) => {
      prompt.status = String(prompt.status).toUpperCase();
    }),
  },
  'prompts that stay running': {
    rewrites: inPrompts((prompt) => Object.assign(prompt, { status: 'running', endedAt: null })),
  },
  'no reads of prompts: 403': { rewrites: instead('getPrompt', () => refusal(403, 'forbidden')) },
  'no reads of prompts: HTML 405, no promptId': {
    deviations: noPromptId,
    rewrites: instead('getPrompt', () => page(405)),
  },
};

const ofEvents: Readonly<Record<string, Row>> = {
  'createdAt in seconds, no promptId': {
    deviations: noPromptId,
    rewrites: inEvents(({ createdAt, ...event }) => ({ ...event, createdAt: ms(createdAt) / 1_000 })),
  },
  'no ids of events, no promptId': { deviations: noPromptId, rewrites: inEvents(({ id: _, ...event }) => event) },
  'no conversations in events, no promptId': {
    deviations: noPromptId,
    rewrites: inEvents(({ conversationId: _, ...event }) => event),
  },
  'texts of events outside data, no promptId': {
    deviations: noPromptId,
    rewrites: inEvents(({ data, ...event }) => ({ ...event, ...part(data) })),
  },
  'events paged by next, no promptId': {
    deviations: noPromptId,
    rewrites: paged('listEvents', (next) => ({ next: link(next) }), 5),
  },
  'events paged by Link, no promptId': {
    deviations: noPromptId,
    rewrites: paged('listEvents', (next) => ({ Link: linkHeader(next) }), 5),
  },
  'events cut without a way on, no promptId': {
    deviations: noPromptId,
    rewrites: paged('listEvents', ({ isLast }) => ({ hasMore: !isLast }), 5),
  },
  'events under another key': { rewrites: inAnswers('listEvents', rename('events', 'items')) },
  'events under another key, no promptId': {
    deviations: noPromptId,
    rewrites: inAnswers('listEvents', rename('events', 'items')),
  },
  'no history: typed 404, no promptId': {
    deviations: noPromptId,
    rewrites: instead('listEvents', () => refusal(404, 'not_found')),
  },
  'no history: HTML 404, no promptId': { deviations: noPromptId, rewrites: instead('listEvents', () => page(404)) },
  'no history: 501, no promptId': {
    deviations: noPromptId,
    rewrites: instead('listEvents', () => refusal(501, 'not_implemented')),
  },
  'an empty history': { rewrites: inAnswers('listEvents', (body) => Object.assign(body, { events: [] })) },
};

const ofSandboxes: Readonly<Record<string, Row>> = {
  'unknown states while booting': {
    rewrites: inSandboxes(
      word('state', { init: 'accepted', provisioning: 'queued_for_machine', provisioned: 'booting' }),
    ),
  },
  'an unknown state instead of idle': { rewrites: inSandboxes(word('state', { idle: 'resting' })) },
  'idle instead of ready': { rewrites: inSandboxes(word('state', { ready: 'idle' })) },
  'null for the other fields of sandboxes': {
    rewrites: inSandboxes((sandbox) => {
      const required = ['id', 'name', 'state', 'desktopAvailable', 'snapshotAvailable'];
      for (const name of Object.keys(sandbox)) if (!required.includes(name)) sandbox[name] = null;
    }),
  },
  'no createdAt': { rewrites: inSandboxes(drop('createdAt', 'updatedAt')) },
  'times of sandboxes as numbers': {
    rewrites: inSandboxes((sandbox) => {
      for (const name of ['createdAt', 'updatedAt', 'archiveAfter', 'snapshotCompletedAt', 'hydratedAt']) {
        if (sandbox[name]) sandbox[name] = ms(sandbox[name]);
      }
    }),
  },
  'no snapshot fields': {
    rewrites: inSandboxes(drop('snapshotCompletedAt', 'snapshotVerifiedAt', 'lastSnapshotStatus')),
  },
};

const lists: Readonly<Record<string, Row>> = {
  'sandboxes paged by nextCursor': {
    rewrites: paged('listSandboxes', (next) => ({ nextCursor: cursor(next) })),
  },
  'sandboxes paged by next': { rewrites: paged('listSandboxes', (next) => ({ next: link(next) })) },
  'sandboxes paged by page': {
    rewrites: paged('listSandboxes', ({ at, size, isLast, total }) => ({
      page: at / size + 1,
      hasMore: !isLast,
      total,
    })),
  },
  'sandboxes paged by a part of the answer': {
    rewrites: paged('listSandboxes', (next) => ({
      pagination: { next_page_token: cursor(next), has_more: !next.isLast },
    })),
  },
  'sandboxes paged by offset': {
    rewrites: paged('listSandboxes', ({ at, size, total }) => ({ meta: { offset: at, limit: size, total } })),
  },
  'lists that lag': { rewrites: stale('listSandboxes', 1_500) },
  'lists and reads that lag': { rewrites: both(stale('listSandboxes', 1_500), stale('getSandbox', 1_000)) },
};

const ofEnds: Readonly<Record<string, Row>> = {
  'a stop under another key, and a foreign id in its reads': {
    rewrites: inAnswers(['stopSandbox', 'getStop'], (body, _, { endpoint }) => {
      body.id = 'op_1234';
      if (endpoint === 'stopSandbox') rename('stop', 'request')(body);
    }),
  },
  'a stop answered without a body': {
    rewrites: inAnswers('stopSandbox', (_, answer) => empty(answer)),
  },
  'no stop on sandboxes, a stop without an id': {
    rewrites: both(inSandboxes(drop('stop')), inAnswers('stopSandbox', drop('stop', 'id'))),
  },
  'no reads of stops: typed 404': { rewrites: instead('getStop', () => refusal(404, 'not_found')) },
  'no reads of stops: HTML 404': { rewrites: instead('getStop', () => page(404)) },
  'no reads of stops: 405': { rewrites: instead('getStop', () => refusal(405, 'method_not_allowed')) },
  'the record of a stop under operation': { rewrites: inAnswers('getStop', rename('stop', 'operation')) },
  'other words for the status of a stop': {
    rewrites: () => ({
      answer({ body }) {
        for (const stop of [part(body).stop, part(part(body).sandbox).stop]) {
          if (stop) word('status', { pending: 'accepted', completed: 'done' })(stop as Json);
        }
      },
    }),
  },
  'a deletion without an operation': { rewrites: inAnswers('deleteSandbox', drop('operationId', 'operation')) },
  'a deletion answered without a body': {
    rewrites: inAnswers('deleteSandbox', (_, answer) => empty(answer)),
  },
  'numeric ids of deletions': {
    rewrites: inAnswers('deleteSandbox', (body) => Object.assign(body, { operation: undefined, operationId: 17 })),
  },
  'no reads of deletions: typed 404': { rewrites: instead('getDeletionOperation', () => refusal(404, 'not_found')) },
  'no reads of deletions: HTML 404': { rewrites: instead('getDeletionOperation', () => page(404)) },
  'the record of a deletion under deletion': {
    rewrites: inAnswers('getDeletionOperation', steps(rename('operation', 'deletion'), drop('status'))),
  },
  'other words for the status of a deletion': {
    rewrites: inAnswers('getDeletionOperation', (body) => {
      for (const one of [body, part(body.operation)]) word('status', { pending: 'accepted', completed: 'done' })(one);
    }),
  },
};

const requests: Readonly<Record<string, Row>> = {
  'fields of forks refused': {
    rewrites: instead('forkSandbox', ({ body }) => (body?.name ? refusal(400, 'unknown_field') : undefined)),
  },
  'after and limit refused': {
    rewrites: instead(['listEvents', 'listSandboxes'], ({ query }) =>
      query.has('after') || query.has('limit') ? refusal(400, 'unknown_parameter') : undefined,
    ),
  },
  'no webhooks': { silent: true },
};

const ofFiles: Readonly<Record<string, Row>> = {
  'files without encoding': { rewrites: inAnswers('readFile', drop('encoding')) },
  'files without path': { rewrites: inAnswers('readFile', drop('path')) },
  'a written file answered without a body': {
    rewrites: inAnswers('writeFile', (_, answer) => empty(answer)),
  },
  'commands without output': { rewrites: inAnswers('runCommand', drop('stdout', 'stderr')) },
  'commands with one output': {
    rewrites: inAnswers('runCommand', (body) => {
      body.output = `${body.stdout}${body.stderr}`;
      drop('stdout', 'stderr')(body);
    }),
  },
  'exit codes under exit_code': { rewrites: inAnswers('runCommand', rename('exitCode', 'exit_code')) },
};

const envelopes: Readonly<Record<string, Row>> = {
  'no type in answers': { rewrites: () => ({ answer: ({ body }) => drop('type')(part(body)) }) },
  'success for ok': { rewrites: () => ({ answer: ({ body }) => rename('ok', 'success')(part(body)) }) },
  'refusals only in error, and 429 for the first create and prompt': {
    rewrites: both(
      inRefusals(drop('code', 'message', 'status', 'type', 'requestId')),
      atFirst(['createSandbox', 'sendPrompt'], 1, () => refusal(429, 'rate_limited')),
    ),
  },
  'codes in capitals, and 409 for the first forks': {
    rewrites: both(
      inRefusals((body) => {
        body.code = String(body.code).toUpperCase();
        part(body.error).code = body.code;
      }),
      atFirst('forkSandbox', 3, () => refusal(409, 'fork_failed')),
    ),
  },
  '429 with a date': {
    rewrites: atFirst(['createSandbox', 'forkSandbox', 'sendPrompt', 'stopSandbox', 'deleteSandbox'], 1, () => {
      const answer = refusal(429, 'rate_limited');
      answer.headers['retry-after'] = new Date(Date.now() + 2_000).toUTCString();
      return answer;
    }),
  },
  'slow answers': { rewrites: slow(400) },
  'gzip that nobody asked for': { rewrites: gzipped },
  'conversation ids as numbers': {
    rewrites: () => ({
      answer({ body }) {
        const number = (one: Json) => {
          if (typeof one.conversationId === 'string')
            one.conversationId = Number.parseInt(one.conversationId.slice(-8), 16);
        };
        for (const one of [part(body), part(part(body).prompt), ...((part(body).events ?? []) as Json[])]) number(one);
      },
    }),
  },
};

/** Deviations that none of this work meets, because no job of these kinds makes such a call or needs what it is about. */
const unmet: ReadonlySet<DeviationName> = new Set([
  ...(['A-access-refusals', 'A-agent-logins', 'A-api-key-create', 'A-api-key-paths', 'A-api-key-row'] as const),
  ...(['A-api-key-usage', 'A-cancelled-key', 'A-creator-logins', 'A-data-retention', 'A-deleted-key'] as const),
  ...(['A-desktop', 'A-env-contents', 'A-environment-list', 'A-environment-update', 'A-failing-stop'] as const),
  ...(['A-environment-upgrade', 'A-file-limit', 'A-fork-conversations', 'A-fork-moment', 'A-hosted-url'] as const),
  ...(['A-interrupt', 'A-key-creation', 'A-key-presets', 'A-late-calls', 'A-legacy-base', 'A-limited-keys'] as const),
  ...(['A-limits', 'A-list-price', 'A-machine-variables', 'A-periodic-snapshots', 'A-process-samples'] as const),
  ...(['A-provider-models', 'A-rate-limits', 'A-raw-bytes', 'A-refusal-urls', 'A-repo-clone'] as const),
  ...([
    'A-repo-host-login',
    'A-repo-selection',
    'A-repos',
    'A-resume',
    'A-retry-after',
    'A-sandbox-variables',
  ] as const),
  ...(['A-secret-files', 'A-secrets', 'A-sharing', 'A-snapshot-access', 'A-snapshot-before'] as const),
  ...(['A-snapshot-delete', 'A-snapshot-name', 'A-snapshot-tree', 'A-sshkey', 'A-standing', 'A-stop-states'] as const),
  ...(['A-sunset-year', 'A-usage', 'A-webhook-record', 'A-webhook-retry'] as const),
]);

/** Deviations that the test's own calls do not bear. Those after which no command starts work, but `gzip`, are not tried. */
const ofProxy: ReadonlySet<DeviationName> = new Set(['A-local-webhook-urls', 'gzip', 'no-ok', 'redirect']);

/** Each deviation alone. How a service refuses is seen if it refuses something. */
const alone = deviationNames.flatMap((name): [string, Row][] => {
  if (unmet.has(name) || ofProxy.has(name)) return [];
  const isOfRefusals = /^A-error-codes|^html-404/.test(name);
  return [[name, { deviations: isOfRefusals ? [name, 'A-prompt-record.not-found'] : [name] }]];
});

const together: readonly (readonly DeviationName[])[] = [
  ['A-prompt-id', 'A-events'],
  ['A-prompt-id', 'A-events.words'],
  ['A-prompt-id', 'A-events.timestamps'],
  ['A-prompt-id', 'A-events.epoch'],
  ['A-prompt-id', 'A-events.newest-first'],
  ['A-prompt-id', 'A-events.cursor'],
  ['A-prompt-id', 'A-events.has-more'],
  ['A-prompt-id', 'A-event-ids'],
  ['A-prompt-id', 'A-create-fields', 'no-auto-stop-fields', 'A-answer-types', 'A-stop-answer.only-id'],
  ['A-prompt-id', 'A-create-fields', 'A-error-codes.flat', 'A-stop-answer.other-key', 'A-read-lag'],
  ['A-stop-answer.other-key', 'A-stop-read.foreign'],
  ['no-stop-on-sandboxes', 'A-stop-answer', 'A-stop-read'],
];

const withSettings: Readonly<Record<string, Row>> = {
  'A-header-family, set': { deviations: ['A-header-family'], form: { headerPrefix: 'X-Box-' } },
  'A-request-form, set': { deviations: ['A-request-form'], form: { omit: ['name'] } },
  'A-request-form.ttl, set': { deviations: ['A-request-form.ttl'], form: { omit: ['ttlSeconds'] } },
  'A-request-form.uuid-keys, set': { deviations: ['A-request-form.uuid-keys'], form: { uuidKeys: true } },
};

const all: Readonly<Record<string, Row>> = {
  'no difference': {},
  ...Object.fromEntries(alone),
  ...Object.fromEntries(together.map((deviations) => [deviations.join(' + '), { deviations }])),
  ...withSettings,
  ...ofPrompts,
  ...ofEvents,
  ...ofSandboxes,
  ...lists,
  ...ofEnds,
  ...requests,
  ...ofFiles,
  ...envelopes,
};

export const rows: readonly (readonly [string, Row])[] = Object.entries(all);

/** Pairs of rows, always the same. */
export const pairs = Array.from({ length: 30 }, (_, at): readonly (readonly [string, Row])[] => {
  const digest = createHash('sha256').update(`pair ${at}`).digest();
  const first = digest.readUInt32BE(0) % rows.length;
  const second = (first + 1 + (digest.readUInt32BE(4) % (rows.length - 1))) % rows.length;
  return [first, second].flatMap((row) => rows.slice(row, row + 1));
});
