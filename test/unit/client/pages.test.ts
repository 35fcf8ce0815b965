/** Lists in pages of every usual form, for every endpoint that answers a list. Gate; some 5 s. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SandboxClient } from '../../../src/client/index.js';
import { listOf } from '../../../src/client/pages.js';
import { type EndpointName, endpoints } from '../../../src/contract/endpoints/endpoints.js';
import {
  type Answer,
  aSandbox,
  createClosing,
  errorBody,
  rejectionOf,
  type Stand,
  sendJson,
  startStand,
} from './http-harness.js';

const closing = createClosing();
afterEach(closing.closeAll);

const id = 'bx_23456789';

interface List {
  readonly rowsIn: string;
  readonly read: (client: SandboxClient) => Promise<object>;
  readonly row: Readonly<Record<string, unknown>>;
}

const lists: Readonly<Partial<Record<EndpointName, List>>> = {
  listSandboxes: {
    rowsIn: 'sandboxes',
    read: async (c) => ({ sandboxes: await c.listAllSandboxes({ include: 'cost' }) }),
    row: aSandbox,
  },
  listEvents: {
    rowsIn: 'events',
    read: (c) => c.listEvents(id),
    row: { id: 'sev_1', type: 'prompt.queued', createdAt: '2026-01-01T00:00:00Z' },
  },
  listProcesses: { rowsIn: 'processes', read: (c) => c.listProcesses(id), row: { pid: 1, command: 'sh' } },
  listSnapshots: { rowsIn: 'snapshots', read: (c) => c.listSnapshots(), row: { id: 'snap_1' } },
  listSandboxSnapshots: { rowsIn: 'snapshots', read: (c) => c.listSandboxSnapshots(id), row: { id: 'snap_1' } },
  getSnapshotTree: {
    rowsIn: 'entries',
    read: (c) => c.getSnapshotTree('snap_1', { path: 'src' }),
    row: { path: 'src/a', type: 'file' },
  },
  listProviderModels: { rowsIn: 'providers', read: (c) => c.listProviderModels(), row: { provider: 'pi' } },
  listRepos: {
    rowsIn: 'repos',
    read: (c) => c.listRepos(),
    row: { id: 1, databaseId: 'r1', name: 'a', fullName: 'o/a' },
  },
  listSecrets: { rowsIn: 'secrets', read: (c) => c.listSecrets(), row: { name: 'A' } },
  listEnvironments: { rowsIn: 'environments', read: (c) => c.listEnvironments(), row: { id: 'env-1', name: 'main' } },
  listWebhooks: {
    rowsIn: 'webhooks',
    read: (c) => c.listWebhooks(),
    row: { id: 'wh_1', url: 'https://a.example/', events: ['sandbox.ready'] },
  },
  listApiKeys: { rowsIn: 'apiKeys', read: (c) => c.listApiKeys(), row: { id: 'sak_1' } },
};

const size = 2;
const count = 5;
const letters = ['a', 'b', 'c', 'd', 'e'];

/** Rows of this list that differ in each of their texts. */
function rowsOf({ row }: List): Record<string, unknown>[] {
  return letters.map((letter) =>
    Object.fromEntries(
      Object.entries(row).map(([key, value]) => {
        if (typeof value === 'number') return [key, value + letters.indexOf(letter)];
        return [key, typeof value === 'string' && !/^(createdAt|url)$/.test(key) ? `${value}${letter}` : value];
      }),
    ),
  );
}

interface Asked {
  /** Index of the first row of this page. */
  readonly from: number;
  readonly next: number | null;
  readonly url: URL;
}

/** How a service says that there is a next page, and how it is asked for it. */
interface Form {
  readonly from: (query: URLSearchParams) => number;
  readonly body?: (asked: Asked) => object;
  readonly headers?: (asked: Asked) => Readonly<Record<string, string | undefined>>;
}

const by = (parameter: string) => (query: URLSearchParams) => Number((query.get(parameter) ?? 't0').slice(1));
const token = (next: number | null) => (next === null ? null : `t${next}`);
const byNumber =
  (first: number, parameter = 'page') =>
  (query: URLSearchParams) =>
    (Number(query.get(parameter) ?? first) - first) * size;
const byOffset = (query: URLSearchParams) => Number(query.get('offset') ?? 0);
const pageOf = ({ from }: Asked, first = 1) => from / size + first;
const address = ({ next, url }: Asked, { whole = true, parameter = 'at' } = {}) => {
  if (next === null) return null;
  const there = new URL(url);
  there.searchParams.set(parameter, `t${next}`);
  return whole ? there.href : `${there.pathname}${there.search}`;
};
const isMore = ({ next }: Asked) => next !== null;

const forms: Readonly<Record<string, Form>> = {
  nextCursor: { from: by('cursor'), body: ({ next }) => ({ nextCursor: token(next) }) },
  'nextCursor, absent at the end': {
    from: by('cursor'),
    body: ({ next }) => (next === null ? {} : { nextCursor: token(next) }),
  },
  next_cursor: { from: by('cursor'), body: ({ next }) => ({ next_cursor: token(next) ?? '' }) },
  cursor: { from: by('cursor'), body: ({ next }) => ({ cursor: token(next) }) },
  'cursor with hasMore': {
    from: by('cursor'),
    body: (asked) => ({ cursor: token(asked.next) ?? 'last', hasMore: isMore(asked) }),
  },
  'next as a token': { from: by('cursor'), body: ({ next }) => ({ next: token(next) }) },
  'next as an address': { from: by('at'), body: (asked) => ({ next: address(asked) }) },
  'next as a path': { from: by('at'), body: (asked) => ({ next: address(asked, { whole: false }) }) },
  'next as an object with an address': { from: by('at'), body: (asked) => ({ next: { href: address(asked) } }) },
  'next as an object with a token': {
    from: by('after'),
    body: ({ next }) => ({ paging: next === null ? {} : { next: { after: token(next) } } }),
  },
  'next as a number': {
    from: byNumber(1),
    body: (asked) => ({ next: isMore(asked) ? pageOf(asked) + 1 : null }),
  },
  'next, previous and count': {
    from: by('at'),
    body: (asked) => ({ count, next: address(asked), previous: null }),
  },
  nextPageToken: { from: by('pageToken'), body: ({ next }) => (next === null ? {} : { nextPageToken: token(next) }) },
  next_page_token: { from: by('page_token'), body: ({ next }) => ({ next_page_token: token(next) ?? '' }) },
  nextToken: { from: by('nextToken'), body: ({ next }) => (next === null ? {} : { nextToken: token(next) }) },
  'pagination.nextCursor': { from: by('cursor'), body: ({ next }) => ({ pagination: { nextCursor: token(next) } }) },
  'meta.pagination.next_cursor': {
    from: by('cursor'),
    body: ({ next }) => ({ meta: { pagination: { next_cursor: token(next) } } }),
  },
  pageInfo: {
    from: by('after'),
    body: (asked) => ({ pageInfo: { endCursor: token(asked.next) ?? 'last', hasNextPage: isMore(asked) } }),
  },
  'links.next': { from: by('at'), body: (asked) => ({ links: { self: asked.url.href, next: address(asked) } }) },
  '_links.next.href': {
    from: by('at'),
    body: (asked) => (isMore(asked) ? { _links: { next: { href: address(asked) } } } : {}),
  },
  'links as a list': {
    from: by('at'),
    body: (asked) => ({
      links: isMore(asked)
        ? [
            { rel: 'self', href: '/' },
            { rel: 'next', href: address(asked) },
          ]
        : [],
    }),
  },
  'a Link header': {
    from: by('at'),
    headers: (asked) => ({
      link: [
        `<${asked.url.href}>; rel="self"`,
        ...(isMore(asked) ? [`<${address(asked)}>; title="x"; rel="next"`] : []),
      ].join(', '),
    }),
  },
  'a Link header without quotes': {
    from: by('at'),
    headers: (asked) => (isMore(asked) ? { link: `<${address(asked, { whole: false })}>;rel=next` } : {}),
  },
  'headers X-Next-Page and X-Total': {
    from: byNumber(1),
    headers: (asked) => ({ 'x-next-page': isMore(asked) ? String(pageOf(asked) + 1) : '', 'x-total': String(count) }),
  },
  'page with totalPages': { from: byNumber(1), body: (asked) => ({ page: pageOf(asked), totalPages: 3 }) },
  'page with total': { from: byNumber(1), body: (asked) => ({ page: pageOf(asked), pageSize: size, total: count }) },
  'page with hasMore': { from: byNumber(1), body: (asked) => ({ page: pageOf(asked), hasMore: isMore(asked) }) },
  'page alone': { from: byNumber(1), body: (asked) => ({ page: pageOf(asked) }) },
  'page with its size': {
    from: byNumber(1),
    body: (asked) => ({ page: String(pageOf(asked)), per_page: String(size) }),
  },
  'page from 0': { from: byNumber(0), body: (asked) => ({ page: pageOf(asked, 0), totalPages: 3 }) },
  'page as an object from 0': {
    from: byNumber(0),
    body: (asked) => ({ page: { size, number: pageOf(asked, 0), totalElements: count, totalPages: 3 } }),
  },
  nextPage: { from: byNumber(1), body: (asked) => ({ nextPage: isMore(asked) ? pageOf(asked) + 1 : null }) },
  'offset with total': { from: byOffset, body: ({ from }) => ({ offset: from, limit: size, total: count }) },
  'offset with has_more': { from: byOffset, body: (asked) => ({ offset: asked.from, has_more: isMore(asked) }) },
};

/** Answers with `count` rows of a list in pages. */
function inPages(list: List, { from: fromOf, body, headers }: Form): Answer {
  const rows = rowsOf(list);
  return (request, response) => {
    const url = new URL(request.url, `http://${request.headers.host}`);
    const from = fromOf(url.searchParams);
    const at = { from, next: from + size < count ? from + size : null, url };
    const page = { ok: true, live: true, [list.rowsIn]: rows.slice(from, from + size), ...body?.(at) };
    sendJson(response, 200, page, { ...headers?.(at) } as Record<string, string>);
  };
}

async function rowsRead({ read, rowsIn }: List, client: SandboxClient): Promise<unknown> {
  return ((await read(client)) as Record<string, unknown>)[rowsIn];
}

/** A service for each list, whose answers each test sets. */
const services: { name: string; list: List; stand: Stand; client: SandboxClient; answer: Answer }[] = [];
const all = createClosing();

beforeAll(async () => {
  for (const [name, list] of Object.entries(lists)) {
    const stand: Stand = all.keep(await startStand((request, response) => service.answer(request, response)));
    const service = { name, list, stand, client: all.client(stand), answer: inPages(list, { from: () => 0 }) };
    services.push(service);
  }
});
afterAll(all.closeAll);
beforeEach(() => {
  for (const { stand } of services) stand.seen.length = 0;
});

describe('every list', () => {
  it('of the contract is tested here', () => {
    const named = (Object.keys(endpoints) as EndpointName[]).filter((name) => listOf(name) !== undefined);
    expect(Object.keys(lists).sort()).toEqual(named.sort());
  });

  it.each(Object.entries(forms))('is read to its end: %s', async (_, form) => {
    for (const service of services) {
      const { name, list, stand, client } = service;
      service.answer = inPages(list, form);
      expect(await rowsRead(list, client), name).toMatchObject(rowsOf(list));
      const asked = stand.seen.map(({ url }) => url);
      expect(new Set(asked).size, `${name}: no page is read twice`).toBe(asked.length);
      expect(asked.length, name).toBeLessThanOrEqual(4);
      const { searchParams } = new URL(asked.at(-1) ?? '', stand.url);
      expect(searchParams.get('include'), 'the rest of the query stays').toBe(name === 'listSandboxes' ? 'cost' : null);
    }
  });

  it.each(Object.entries(forms))('with rows that are not wanted is read to the same end: %s', async (_, form) => {
    const service = services.find(({ name }) => name === 'listSandboxes');
    const { list, stand, client } = service ?? expect.unreachable();
    Object.assign(service ?? {}, { answer: inPages(list, form) });
    await client.listAllSandboxes();
    const pages = stand.seen.splice(0).length;
    const last = rowsOf(list).at(-1)?.id;
    const isWanted = (sandboxId: string) => sandboxId === last;
    expect(await client.listAllSandboxes({}, { isWanted })).toMatchObject([{ id: last }]);
    expect(stand.seen).toHaveLength(pages);
  });

  /** What the first page says, and always again. */
  const refused: Readonly<Record<string, { body?: object; headers?: Record<string, string>; sign: string }>> = {
    'says only that there is more': { body: { hasMore: true }, sign: 'hasMore' },
    'says only in its page information that there is more': {
      body: { pageInfo: { hasNextPage: true } },
      sign: 'pageInfo.hasNextPage',
    },
    'has fewer rows than it says': { body: { nextCursor: null, totalCount: 5 }, sign: 'totalCount' },
    'has fewer rows than a header says': { headers: { 'x-total-count': '5' }, sign: 'x-total-count' },
    'has fewer pages than it says': { body: { total_pages: 3 }, sign: 'total_pages' },
    'sends the same token again': { body: { nextCursor: 'same' }, sign: 'nextCursor' },
    'ignores the number of the page': { body: { page: 1, totalPages: 3 }, sign: 'totalPages' },
    'ignores the offset': { body: { offset: 0, hasMore: true }, sign: 'hasMore' },
    'continues on another host': { body: { next: 'https://other.example/v1/sandboxes?page=2' }, sign: 'next' },
    'continues elsewhere': { headers: { link: '</v2/elsewhere?page=2>; rel="next"' }, sign: 'Link' },
    'continues at no address': { body: { next: 'http://[?page=2' }, sign: 'next' },
  };
  it.each(Object.entries(refused))('is refused if it %s', async (_, { body, headers, sign }) => {
    // The total of processes has a meaning of its own.
    const counted = services.filter(({ name }) => name !== 'listProcesses' || !/total-?count/i.test(sign));
    for (const service of counted) {
      const { name, list, stand, client } = service;
      const page = { ok: true, live: true, [list.rowsIn]: rowsOf(list).slice(0, size), ...body };
      service.answer = (_request, response) => sendJson(response, 200, page, headers);
      const error = await rejectionOf(list.read(client));
      expect(error).toMatchObject({ code: 'list_incomplete', endpoint: name });
      expect(error).toHaveProperty('message', expect.stringContaining(`\`${sign}\``));
      const goesElsewhere = sign === 'next' || sign === 'Link';
      expect(stand.seen.length, name).toBeLessThanOrEqual(goesElsewhere ? 1 : 2);
    }
  });
});

describe('a list', () => {
  const one = lists.listSandboxes as List;
  const pages = async (answers: readonly (object | number)[]) => {
    let asked = 0;
    const stand = await startStand((_, response) => {
      const answer = answers[Math.min(asked++, answers.length - 1)];
      if (typeof answer === 'number') sendJson(response, answer, errorBody(answer, 'refused'));
      else sendJson(response, 200, { ok: true, ...answer });
    });
    return closing.client(closing.keep(stand));
  };
  const some = (from: number, to: number) => rowsOf(one).slice(from, to);

  it.each([400, 422])('is refused if the service refuses the next page with %i', async (status) => {
    const client = await pages([{ sandboxes: some(0, 2), nextCursor: 'c' }, status]);
    expect(await rejectionOf(client.listAllSandboxes())).toMatchObject({
      code: 'list_incomplete',
      message: expect.stringContaining('refused'),
    });
  });

  it.each([403, 404, 429, 500])('fails as the read of its next page does, with %i', async (status) => {
    const client = await pages([{ sandboxes: some(0, 2), nextCursor: 'c' }, status]);
    expect(await rejectionOf(client.listAllSandboxes())).toMatchObject({ code: 'refused', status });
  });

  it.each([
    ['an answer that only has the number of its page', { page: 1 }, 404],
    ['the same with a service that ignores the number', { page: 1 }, { sandboxes: some(0, 2), page: 1 }],
    ['a page that is not full', { page: 1, pageSize: 50 }, 500],
    ['a total that is reached', { page: 1, total: 2 }, 500],
    ['pages that are all read', { page: 1, pages: 1 }, 500],
    ['an offset and a total', { offset: 0, limit: 50, total: 2 }, 500],
    ['nothing more, although there is a token', { hasMore: false, nextCursor: 'c' }, 500],
    ['an empty token', { nextCursor: '', next: null, hasNextPage: false }, 500],
    ['words of other meanings', { requestId: 'req_1', meta: { version: 1 }, links: {}, count: 2 }, 500],
  ])('ends after %s', async (_, says, next) => {
    const client = await pages([{ sandboxes: some(0, 2), ...says }, next]);
    expect(await client.listAllSandboxes()).toHaveLength(2);
  });

  it('ends at an empty page that repeats its token, unless that page says that there is more', async () => {
    const tail = { sandboxes: [], nextCursor: 'c' };
    const client = await pages([{ sandboxes: some(0, 2), nextCursor: 'c' }, tail]);
    expect(await client.listAllSandboxes()).toHaveLength(2);
    const more = await pages([
      { sandboxes: some(0, 2), nextCursor: 'c' },
      { ...tail, hasMore: true },
    ]);
    expect(await rejectionOf(more.listAllSandboxes())).toMatchObject({ code: 'list_incomplete' });
  });

  it('of the events of a conversation may have a total of all conversations', async () => {
    const events = rowsOf(lists.listEvents as List).slice(0, 2);
    const whole = await pages([{ events, total: 9 }]);
    expect((await whole.listEvents(id, { conversation: 'conv_1' })).events).toHaveLength(2);
    expect(await rejectionOf(whole.listEvents(id))).toMatchObject({ code: 'list_incomplete' });
  });

  it('counts rows that it cannot read', async () => {
    const client = await pages([{ sandboxes: [...some(0, 4), { id: 7 }], total: 5 }]);
    expect(await client.listAllSandboxes()).toHaveLength(4);
    const short = await pages([{ sandboxes: [...some(0, 3), { id: 7 }], total: 5 }]);
    expect(await rejectionOf(short.listAllSandboxes())).toMatchObject({ code: 'list_incomplete' });
  });

  it('tells the unreadable rows of all its pages together', async () => {
    const client = await pages([
      { sandboxes: [...some(0, 2), { id: 7 }], nextCursor: 'c' },
      { sandboxes: [...some(2, 4), { id: 7 }] },
    ]);
    const told: number[] = [];
    await client.listAllSandboxes({}, { onRowsLeftOut: (rows) => told.push(rows) });
    expect(told).toEqual([2]);
  });

  it('checks only the rows that are wanted, and those without an id', async () => {
    const [first, second] = some(0, 2) as [{ readonly id: string }, { readonly id: string }];
    const rows = [{ id: 7 }, null, { ...first, ttlSeconds: 'long' }, { ...second, state: 7 }];
    const client = await pages([{ sandboxes: [...rows, first], total: 5 }]);
    const told: number[] = [];
    const onRowsLeftOut = (left: number) => told.push(left);
    const only = (...wanted: readonly string[]) =>
      client.listAllSandboxes({}, { onRowsLeftOut, isWanted: (sandboxId) => wanted.includes(sandboxId) });
    expect(await only(first.id)).toMatchObject([{ id: first.id }, first]);
    expect(await only(second.id)).toEqual([]);
    expect(await only('none')).toEqual([]);
    expect(told).toEqual([2, 3, 2]);
  });

  it('tells only the rows that are wanted if it is incomplete', async () => {
    const [first] = some(0, 1) as [{ readonly id: string }];
    const client = await pages([{ sandboxes: some(0, 4), hasMore: true }]);
    const error = await rejectionOf(client.listAllSandboxes({}, { isWanted: (sandboxId) => sandboxId === first.id }));
    expect(error).toMatchObject({ code: 'list_incomplete', part: { sandboxes: [first] } });
  });

  it('goes on after pages without rows, and after one that moved', async () => {
    const client = await pages([
      { sandboxes: some(0, 2), nextCursor: '1' },
      { sandboxes: [], nextCursor: '2' },
      { sandboxes: some(1, 2), nextCursor: '3' },
      { sandboxes: some(1, 5) },
    ]);
    expect(await client.listAllSandboxes()).toMatchObject(some(0, 5));
  });

  it('is refused if its pages have no new rows for long', async () => {
    let page = 0;
    const stand = await startStand((_, response) => {
      page += 1;
      sendJson(response, 200, { ok: true, sandboxes: some(0, 2), nextCursor: String(page) });
    });
    const client = closing.client(closing.keep(stand));
    expect(await rejectionOf(client.listAllSandboxes())).toMatchObject({ code: 'list_incomplete' });
    expect(page).toBe(4);
  });

  const paged = async (list: List, form: Form | undefined) =>
    closing.keep(await startStand(inPages(list, form ?? { from: () => 0 })));

  it.each(['nextCursor', 'page alone'])('with a limit is read up to it: %s', async (form) => {
    const stand = await paged(one, forms[form]);
    const client = closing.client(stand);
    expect((await client.listSandboxes({ limit: 2 })).sandboxes).toHaveLength(2);
    expect(stand.seen).toHaveLength(1);
  });

  it('with a limit is filled with the pages of a service that sends fewer rows, and says where it goes on', async () => {
    const stand = await paged(one, forms.nextCursor);
    expect(await closing.client(stand).listSandboxes({ limit: 3 })).toMatchObject({
      sandboxes: some(0, 4),
      nextCursor: 't4',
    });
  });

  it('of events goes on after its last event if it only says that there is more', async () => {
    const events = lists.listEvents as List;
    const rows = rowsOf(events);
    const after = (query: URLSearchParams) => rows.findIndex((row) => row.id === query.get('after')) + 1;
    const stand = await paged(events, { from: after, body: (asked) => ({ hasMore: isMore(asked) }) });
    expect(await rowsRead(events, closing.client(stand))).toMatchObject(rows);
  });

  it('of processes has a total of its own', async () => {
    const stand = closing.keep(
      await startStand((_, response) =>
        sendJson(response, 200, { ok: true, live: true, total: 700, processes: [{ pid: 1, command: 'sh' }] }),
      ),
    );
    expect(await closing.client(stand).listProcesses(id)).toMatchObject({ total: 700, processes: [{ pid: 1 }] });
  });

  it('is answered as it came if it is one page', async () => {
    const client = await pages([{ type: 'sandbox.list', sandboxes: [aSandbox, aSandbox], nextCursor: null }]);
    expect(await client.listSandboxes()).toEqual({
      ...{ ok: true, type: 'sandbox.list', nextCursor: null },
      sandboxes: [aSandbox, aSandbox],
    });
  });
});
