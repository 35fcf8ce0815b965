/**
 * Reads a list to its end. The specification shows no paging, so a list may come in pages of any usual form. This file
 * alone decides, for the lists of all endpoints; of events, `event-pages.ts` also reads on after the last one:
 *
 *     a token, a number or an address of the next page ─► followed: only its query is used, at the same address
 *     a sign that there is more, but no way to ask for it ─► `list_incomplete`
 *     pages that were already read, or too many ─► `list_incomplete`
 */
import { z } from 'zod';
import { type EndpointName, endpoints } from '../contract/endpoints/endpoints.js';
import { maxListBytes } from '../contract/workflow-safe/limits.js';
import { withoutEndSlashes } from '../texts/urls.js';
import type { ListAllOptions, Query } from './call-options.js';
import { ApiError, ListIncompleteError } from './errors.js';
import { queryString } from './request-address.js';

/** A list of the contract. */
interface List {
  readonly endpoint: EndpointName;
  /** The field of the answer that holds the rows. */
  readonly rowsIn: string;
  /** True if the contract gives `total` another meaning. */
  readonly hasTotal: boolean;
  /** True if `after` continues after the row with that id. */
  readonly hasAfter: boolean;
}

/** One answer of a list. */
export interface Page {
  readonly answer: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Number of unreadable rows. */
  readonly rowsLeftOut: number;
  readonly bytes: number;
}

export interface ListRequest {
  readonly query: Query;
  /** The address of the request, without its query. */
  readonly url: string;
  /** True if the caller needs the whole list, although its query has a `limit`. */
  readonly whole?: boolean | undefined;
  readonly isWanted?: ListAllOptions['isWanted'];
  readonly readPage: (query: Query) => Promise<Page>;
}

/** Limits of a list: an account has less, and an endless list would fill the memory. */
const maxPages = 1_000;
const maxRows = 100_000;
/** If rows move while a list is read, a page may have only rows that were already read. */
const maxPagesWithoutNews = 3;
/** Statuses with which a service refuses a parameter. */
const refusals: ReadonlySet<number> = new Set([400, 416, 422]);

/** The list that an endpoint answers; undefined if it answers none. */
export function listOf(endpoint: EndpointName): List | undefined {
  const { method, response, query } = endpoints[endpoint] as (typeof endpoints)['listEvents'];
  const { shape }: z.ZodObject = response;
  const rowsIn = Object.keys(shape).find((name) => shape[name] instanceof z.ZodArray);
  if (method !== 'GET' || rowsIn === undefined) return undefined;
  return { endpoint, rowsIn, hasTotal: 'total' in shape, hasAfter: 'after' in (query?.shape ?? {}) };
}

/**
 * Reads the pages of a list until it ends, or until it has the `limit` of the query. A row on two pages is returned once.
 * @returns the last answer, with the rows of all that are wanted
 * @throws ListIncompleteError if there is more that cannot be read; what the read of a page throws
 */
export async function readList(list: List, request: ListRequest): Promise<Page['answer']> {
  return splitRows(list, await readPages(list, request), request.isWanted).answer;
}

/**
 * Takes the rows that are not wanted out of an answer. One without an id stays: whoever reads it cannot tell.
 * @returns also those that it took out, as they are
 */
export function splitRows(
  { rowsIn }: Pick<List, 'rowsIn'>,
  answer: Page['answer'],
  isWanted: ListAllOptions['isWanted'],
): { readonly answer: Page['answer']; readonly others: readonly unknown[] } {
  const rows = answer[rowsIn];
  if (!isWanted || !Array.isArray(rows)) return { answer, others: [] };
  const wanted: unknown[] = [];
  const others: unknown[] = [];
  for (const row of rows) {
    const id = idOf(row);
    (typeof id !== 'string' || isWanted(id) ? wanted : others).push(row);
  }
  return { answer: { ...answer, [rowsIn]: wanted }, others };
}

async function readPages(list: List, request: ListRequest): Promise<Page['answer']> {
  const { whole = false, readPage, isWanted } = request;
  let { query } = request;
  const wanted = whole ? Number.POSITIVE_INFINITY : Number(query.limit ?? Number.POSITIVE_INFINITY);
  const { cursor, after, conversation } = query;
  // A `total` counts what was asked for only if nothing limits it.
  const isWhole = wanted === Number.POSITIVE_INFINITY && (cursor ?? after ?? conversation) === undefined;
  const asked = new Set<string>();
  const byKey = new Map<unknown, unknown>();
  let [seen, bytes, withoutNews] = [0, 0, 0];
  let merged: Page['answer'] = {};
  const incomplete = (why: string, cause?: unknown) =>
    new ListIncompleteError(list.endpoint, `${seen} rows, and ${why}`, {
      cause,
      part: splitRows(list, merged, isWanted).answer,
    });
  for (let page = await readPage(query); ; ) {
    asked.add(queryString(query));
    const rows = page.answer[list.rowsIn] as readonly unknown[];
    seen += rows.length + page.rowsLeftOut;
    bytes += page.bytes;
    const following = nextOf(list, page, { ...request, query, seen, isWhole, pages: asked.size });
    const next = seen >= wanted ? undefined : following;
    // A caller that pages by `after` must know that there is more.
    if (list.hasAfter && seen >= wanted && following?.sign !== undefined)
      page = { ...page, answer: { ...page.answer, hasMore: true } };
    if (next === undefined && asked.size === 1) return page.answer;
    const known = byKey.size;
    for (const row of rows) byKey.set(keyOf(row), row);
    withoutNews = rows.length > 0 && byKey.size === known ? withoutNews + 1 : 0;
    merged = { ...page.answer, [list.rowsIn]: [...byKey.values()] };
    if (next === undefined) return merged;
    const { sign } = next;
    if (next.query === undefined) throw incomplete(`\`${sign}\` says that there are more, but not how to ask for them`);
    const isRepeated = asked.has(queryString(next.query)) || withoutNews >= maxPagesWithoutNews;
    // An empty page may repeat its token: the place from which a later read goes on.
    const isTail = rows.length + page.rowsLeftOut === 0 && !next.saysMore;
    if (isRepeated && (sign === undefined || isTail)) return merged;
    if (isRepeated) throw incomplete(`\`${sign}\` points to rows that were already read`);
    if (asked.size >= maxPages || byKey.size > maxRows || bytes > maxListBytes) throw incomplete('it never ends');
    query = next.query;
    try {
      page = await readPage(query);
    } catch (error) {
      if (!(error instanceof ApiError && error.typed)) throw error;
      if (sign === undefined && (refusals.has(error.status) || error.status === 404)) return merged;
      if (!refusals.has(error.status)) throw error;
      throw incomplete(`the service refuses those that \`${sign}\` points to: ${error.message}`, error);
    }
  }
}

const idOf = (row: unknown) => ((row ?? {}) as { readonly id?: unknown }).id;

function keyOf(row: unknown): unknown {
  const id = idOf(row);
  return typeof id === 'string' || typeof id === 'number' ? id : JSON.stringify(row);
}

/** Names are compared in lower case, without separators and without the `X-` of headers. */
const normal = (name: string) => name.toLowerCase().replace(/^x-|[-_]/g, '');
/** The parts of an answer that may say something about pages. */
const holders = /^(cursors?|links?|meta(data)?|next|pages?|pageinfo|paging|pagination|responsemetadata)$/;
/** Fields with the address of the next page. */
const addresses = ['next', 'nextlink', 'nexturl', 'nexturi', 'nexthref', 'nextpageurl', 'nextpage'];
/** Fields with a token or a number of the next page. */
const tokens = [
  ...['nextcursor', 'nextpagetoken', 'nexttoken', 'continuationtoken', 'nextmarker', 'nextafter', 'nextpage'],
  ...['nextoffset', 'endcursor', 'next', 'cursor'],
];
/** Fields that say whether there are more rows. */
const mores = ['hasmore', 'hasnext', 'hasnextpage', 'more', 'moreavailable', 'istruncated', 'truncated', 'next'];
const totals = ['total', 'totalcount', 'totalitems', 'totalelements', 'totalresults', 'count'];
const pageCounts = ['totalpages', 'pagecount', 'numpages', 'pages'];
/** Fields with the number of this page, or of its first row. */
const places = ['page', 'currentpage', 'pagenumber', 'number', 'offset', 'skip'];
const pageSizes = ['pagesize', 'perpage', 'limit', 'size'];

/** Parameters that are not the name of their field without `next`. */
const parameters: Readonly<Record<string, string>> = {
  next: 'cursor',
  nexttoken: 'nextToken',
  endcursor: 'after',
  currentpage: 'page',
  number: 'page',
};

/** A field of an answer, or a header. */
interface Field<T = unknown> {
  /** Its normal name, with the holder `next`. */
  readonly name: string;
  /** Such as `pagination.nextCursor`. */
  readonly path: string;
  readonly value: T;
}

interface Next {
  /** Undefined if the answer does not say how to ask. */
  readonly query?: Query | undefined;
  /** The field that says that there is a next page; undefined if there may be none. */
  readonly sign?: string | undefined;
  /** True if a field says that there are more, besides the token. */
  readonly saysMore?: boolean | undefined;
}

type Place = Pick<ListRequest, 'query' | 'url'> & {
  readonly seen: number;
  readonly isWhole: boolean;
  readonly pages: number;
};

/** How to ask for the next page; undefined after the last one. */
function nextOf(list: List, page: Page, { query, url, seen, isWhole, pages }: Place): Next | undefined {
  const fields = fieldsOf(page);
  const find = <T>(names: readonly string[], read: (value: unknown) => T | undefined): Field<T> | undefined => {
    for (const name of names) {
      const field = fields.get(name);
      const value = field && read(field.value);
      if (field && value !== undefined) return { ...field, value };
    }
    return undefined;
  };
  const address = linkOf(page) ?? find(addresses, addressOf);
  if (address) return { query: queryOf(address.value, { query, url }), sign: address.path };
  const more = find(mores, (value) => (typeof value === 'boolean' ? value : undefined));
  if (more?.value === false) return undefined;
  const token = find(tokens, tokenOf);
  if (token) return { query: { ...query, [parameterOf(token)]: token.value }, sign: token.path, saysMore: more?.value };

  const rows = page.answer[list.rowsIn] as readonly { readonly id?: unknown }[];
  const total = list.hasTotal || !isWhole ? undefined : find(totals, countOf);
  const count = find(pageCounts, countOf);
  const lacking = [total && total.value > seen && total, count && count.value > pages && count].find((one) => one);
  const sign = (more ?? (lacking || undefined))?.path;
  if (rows.length > 0) {
    const place = find(places, countOf);
    const all = rows.length + page.rowsLeftOut;
    // An answer that says only where it is may be the last one.
    const mayGoOn = total === undefined && count === undefined && all >= (find(pageSizes, countOf)?.value ?? 0);
    if (place && (sign !== undefined || mayGoOn)) {
      const step = place.name === 'offset' || place.name === 'skip' ? all : 1;
      return { query: { ...query, [parameterOf(place)]: place.value + step }, sign };
    }
    const last = rows.at(-1)?.id;
    if (sign !== undefined && list.hasAfter && typeof last === 'string')
      return { query: { ...query, after: last }, sign };
  }
  return sign === undefined ? undefined : { sign };
}

function parameterOf({ name, path, value }: Field): string {
  if (name === 'next' && typeof value === 'number') return 'page';
  const own =
    path
      .split('.')
      .at(-1)
      ?.replace(/^(x-)?(next[-_]?)?/i, '') ?? '';
  return parameters[name] ?? `${own.charAt(0).toLowerCase()}${own.slice(1)}`;
}

/** What an answer says of its pages, by the normal name. A field outside counts before one in a part. */
function fieldsOf({ answer, headers }: Page): ReadonlyMap<string, Field> {
  const fields = new Map<string, Field>();
  const add = (part: object, path: string, prefix: string, depth: number) => {
    const named = Object.entries(part).map(([key, value]) => ({ key, value, name: `${prefix}${normal(key)}` }));
    for (const { key, value, name } of named) {
      if (!fields.has(name)) fields.set(name, { name, path: `${path}${key}`, value });
    }
    for (const { key, value, name } of named) {
      const links = Array.isArray(value) ? { next: value.find((one) => one?.rel === 'next') } : value;
      if (depth === 0 || typeof links !== 'object' || links === null || !holders.test(name)) continue;
      add(links, `${path}${key}.`, name === 'next' ? name : '', depth - 1);
    }
  };
  add(answer, '', '', 3);
  add(Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('x-'))), '', '', 0);
  return fields;
}

/** The address with `rel=next` in the header `Link`. */
function linkOf({ headers }: Page): Field<string> | undefined {
  const next = [headers.link]
    .flat()
    .join(', ')
    .matchAll(/<([^>]*)>([^<]*)/g);
  for (const [, value = '', parameters = ''] of next) {
    if (/;\s*rel\s*=\s*("[^"]*\bnext\b[^"]*"|next\b)/i.test(parameters)) return { name: 'link', path: 'Link', value };
  }
  return undefined;
}

function addressOf(value: unknown): string | undefined {
  return typeof value === 'string' && /^https?:\/\/|^[^?]*\?[^=]+=/.test(value) ? value : undefined;
}

function tokenOf(value: unknown): string | number | undefined {
  return (typeof value === 'string' && value !== '') || typeof value === 'number' ? value : undefined;
}

function countOf(value: unknown): number | undefined {
  const count = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof count === 'number' && Number.isInteger(count) && count >= 0 ? count : undefined;
}

/** The query of an address, if it is the address of this list; a gateway may have changed the scheme and the port. */
function queryOf(address: string, { query, url }: Pick<ListRequest, 'query' | 'url'>): Query | undefined {
  const here = new URL(url);
  if (!URL.canParse(address, url)) return undefined;
  const there = new URL(address, url);
  const isHere =
    there.hostname === here.hostname && withoutEndSlashes(there.pathname) === withoutEndSlashes(here.pathname);
  return isHere ? { ...query, ...Object.fromEntries(there.searchParams) } : undefined;
}
