/** Registers Temporal's search attributes in a namespace, and checks that it has them before anything uses them. */
import type { Client } from '@temporalio/client';
import type { SearchAttributePair } from '@temporalio/common';
import { SandflowError } from '../errors/sandflow-error.js';
import { openAttributes, searchAttributes } from '../protocol/search-attributes.js';
import { isPermissionDenied, isTemporalUnreachable, reasonOf } from '../temporal/errors.js';

const wanted = Object.values(searchAttributes);
/** Temporal's `IndexedValueType`, and the names of its tools. */
const kinds = { KEYWORD: { value: 2, word: 'Keyword' }, DATETIME: { value: 6, word: 'Datetime' } } as const;

/**
 * Adds the search attributes of jobs, items and batches to the namespace of the client. Servers may take a minute to know
 * new ones. Safe to repeat.
 * @returns what was done, by the names of the attributes; `present`: the namespace had it before
 * @throws SandflowError `bad_search_attributes` if the namespace has one of another type, or this user may not add them
 * @example
 * const { SandflowOutcome } = await registerSearchAttributes(client);
 */
export async function registerSearchAttributes(client: Client): Promise<Record<string, 'added' | 'present'>> {
  const { operatorService } = client.connection;
  const { namespace } = client.options;
  try {
    const { customAttributes: there } = await operatorService.listSearchAttributes({ namespace });
    const missing = wanted.filter(({ name }) => there[name] === undefined);
    const wrong = wanted.find(({ name, type }) => there[name] !== undefined && there[name] !== kinds[type].value);
    if (wrong) throw bad(`${namespace} has ${wrong.name}, but not as ${kinds[wrong.type].word}: remove it there`);
    const added = Object.fromEntries(missing.map(({ name, type }) => [name, kinds[type].value]));
    if (missing.length > 0) await operatorService.addSearchAttributes({ namespace, searchAttributes: added });
    return Object.fromEntries(wanted.map(({ name }) => [name, name in added ? 'added' : 'present']));
  } catch (error) {
    if (error instanceof SandflowError || isTemporalUnreachable(error)) throw error;
    const all = wanted.map(({ name, type }) => `--sa ${name}=${kinds[type].word}`).join(' ');
    const cloud = `in Temporal Cloud: \`tcld namespace search-attributes add -n ${namespace} ${all}\`, or its web pages`;
    throw bad(
      `${namespace} refuses it (${reasonOf(error as Error)}). Ask its administrator to add them; ${cloud}`,
      error,
    );
  }
}

/** Clients whose namespace had all of them. */
const complete = new WeakSet<Client>();

/**
 * Temporal itself would refuse only the workflow tasks that write one, again and again. Who may list may count, also in
 * Temporal Cloud.
 * @throws SandflowError `bad_search_attributes`
 */
export async function requireSearchAttributes(client: Client): Promise<void> {
  if (complete.has(client)) return;
  const uses = wanted.map(({ name, type }) => `${name} = '${type === 'KEYWORD' ? 'none' : '2000-01-01T00:00:00Z'}'`);
  try {
    await client.workflow.count(uses.join(' OR '));
  } catch (error) {
    if (isTemporalUnreachable(error)) throw error;
    const why = `${client.options.namespace} lacks them: ${reasonOf(error as Error)}. Add them with \`sandflow jobs attributes\``;
    if (!isPermissionDenied(error)) throw bad(why, error);
  }
  complete.add(client);
}

/** What a job or a batch starts with; undefined if it is not asked for. @throws SandflowError `bad_search_attributes` */
export async function startAttributes(
  client: Client,
  isAsked = false,
  batch?: string,
): Promise<SearchAttributePair[] | undefined> {
  if (isAsked) await requireSearchAttributes(client);
  return isAsked ? openAttributes(batch) : undefined;
}

function bad(why: string, cause?: unknown): SandflowError {
  return new SandflowError('bad_search_attributes', `Search attributes cannot be used: ${why}.`, { cause });
}
