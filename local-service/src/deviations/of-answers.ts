/** Lists, errors, envelopes and the account, otherwise. */
import { gzipSync } from 'node:zlib';
import { errorCodes } from '../../../src/contract/workflow-safe/error-codes.js';
import { notFound } from '../service-error.js';
import {
  answers,
  type Json,
  type Rows,
  refusals,
  rename,
  replace,
  requests,
  type Shown,
  showHtml,
} from './deviation.js';

const pageSize = 2;

/** Pages of two sandboxes, whatever the request says of `limit`. `from` and `tell` count pages from 0. */
const pages = (
  parameter: string,
  tell: (body: Json, page: { readonly at: number; readonly count: number }, shown: Shown, url: string) => void,
) => ({
  ...requests('listSandboxes', ({ query }) => {
    for (const name of ['limit', 'cursor', 'page']) delete query[name];
  }),
  ...answers('listSandboxes', (body, shown, { asked, url }) => {
    const rows = body.sandboxes as Json[];
    const at = Number(asked[parameter] ?? 0);
    body.sandboxes = rows.slice(at * pageSize, (at + 1) * pageSize);
    tell(body, { at, count: Math.ceil(rows.length / pageSize) }, shown, url.split('?')[0] ?? '');
  }),
});

const codes = (change: (code: string) => string) =>
  refusals((body) => {
    for (const one of [body, body.error]) one.code = change(String(one.code));
  });

export const ofAnswers = {
  'A-answer-types': { answer: (shown) => (shown.status = /^20[12]$/.test(String(shown.status)) ? 200 : shown.status) },
  'A-answer-types.words': {
    answer: ({ body }) => {
      if (typeof body.type === 'string') body.type = body.type.replaceAll('.', '_').toUpperCase();
    },
  },
  'A-list-order': answers('listSandboxes', (body) => (body.sandboxes as Json[]).reverse()),
  'A-paging': pages('cursor', (body, { at, count }) => (body.next = at + 1 < count ? String(at + 1) : null)),
  'A-paging.cursor': pages('cursor', (body, { at, count }) => {
    body.cursor = at + 1 < count ? String(at + 1) : null;
  }),
  'A-paging.page': pages('page', (body, { at, count }) => Object.assign(body, { page: at, totalPages: count })),
  'A-paging.link': pages('page', (_, { at, count }, { headers }, path) => {
    if (at + 1 < count) headers.link = `<${path}?page=${at + 1}>; rel="next"`;
  }),
  'A-paging.has-more': pages('page', (body, { at, count }) => (body.hasMore = at + 1 < count)),
  'A-paging.total': pages('page', (body, { count }) => (body.total = count * pageSize)),
  'A-refusal-urls': refusals(({ error }) => {
    const details = (error.details ?? {}) as Json;
    rename(details, Object.fromEntries(Object.keys(details).map((name) => [name, name.replace(/Url$/, 'Page')])));
  }),
  'A-retry-after': {
    answer: ({ headers }, { nowMs }) => {
      const seconds = headers['retry-after'];
      if (seconds !== undefined) headers['retry-after'] = new Date(nowMs + Number(seconds) * 1_000).toUTCString();
    },
  },
  'A-legacy-base': {
    request({ surface, url }) {
      if (surface === 'legacy') throw notFound(`The route ${url} does not exist.`);
    },
  },
  'A-sunset-year': {
    answer({ headers }) {
      if (headers.sunset) headers.sunset = headers.sunset.replace(/ (\d{4}) /, (_, year) => ` ${Number(year) + 1} `);
    },
  },
  'A-limits': answers('getLimits', (body) => rename(body, { limits: 'quota' })),
  'A-data-retention': answers(['getDataRetention', 'updateDataRetention'], (body) =>
    rename(body, { policy: 'retention' }),
  ),
  'A-repos': answers(['listRepos', 'selectRepo'], (body) =>
    rename(body, { repos: 'repositories', repo: 'repository' }),
  ),
  'A-secrets': answers(['listSecrets', 'updateSecrets'], (body) => {
    body.secrets = (body.secrets as Json[]).map(({ name }) => name);
  }),
  'A-environment-default': requests('createSandbox', (sent) => {
    if (sent.body.environment === undefined) sent.body = { ...sent.body, noEnv: true };
  }),
  'A-environment-list': answers('listEnvironments', (body) => rename(body, { environments: 'items' })),
  'A-api-key-create': answers('createApiKey', (body) => rename(body, { apiKey: 'key', secret: 'token' })),
  'A-api-key-paths': requests(['rotateApiKey', 'revokeApiKey'], ({ url }) => {
    throw notFound(`The route ${url} does not exist.`);
  }),
  'A-api-key-row': answers('listApiKeys', (body) => {
    body.apiKeys = (body.apiKeys as Json[]).map(({ id, name, usage, resources }) => ({ id, name, usage, resources }));
    delete body.catalog;
  }),
  'A-api-key-usage': answers('getApiKeyUsage', (body) => {
    replace(body, { ok: true, type: body.type, ...(body.usage as Json), agents: body.resources });
  }),
  'A-webhook-record': {
    answer: ({ body }, { endpoint }) => {
      if (endpoint === 'deleteWebhook') delete body.id;
      for (const one of [body.webhook, body.webhooks].flat())
        if (one) rename(one as Json, { createdAt: 'registeredAt' });
    },
  },
  'extra-fields': {
    answer(shown) {
      const text = JSON.stringify(shown.body);
      shown.body = JSON.parse(text, (_key, value: unknown) =>
        typeof value !== 'object' || value === null || Array.isArray(value)
          ? value
          : { ...value, unlisted: 'a field of a later API version' },
      );
    },
  },
  'A-error-codes': codes((code) => (Object.hasOwn(errorCodes, code) ? code : 'refused')),
  'A-error-codes.capitals': codes((code) => code.toUpperCase()),
  'A-error-codes.flat': refusals((body) => {
    for (const name of ['error', 'type', 'status', 'requestId']) delete (body as Json)[name];
  }),
  'A-error-codes.nested': refusals((body) => replace(body, { ok: false, error: body.error })),
  'A-error-codes.success': refusals((body) =>
    replace(body, { success: false, code: body.code, message: body.message }),
  ),
  'no-ok': { answer: ({ body }) => delete body.ok },
  'html-404': { answer: (shown) => shown.status === 404 && showHtml(shown, 404) },
  'user-agent': { answer: (shown, { headers }) => !headers['user-agent'] && showHtml(shown, 403) },
  redirect: {
    answer(shown, { asked, method, url }) {
      if (method !== 'GET' || asked.moved !== undefined) return;
      shown.status = 308;
      shown.headers.location = `${url}${url.includes('?') ? '&' : '?'}moved=1`;
    },
  },
  gzip: {
    answer(shown) {
      shown.headers['content-encoding'] = 'gzip';
      (shown as Shown).body = gzipSync(JSON.stringify(shown.body));
    },
  },
} satisfies Rows;
