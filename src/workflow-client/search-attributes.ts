/** Registers Temporal's search attributes in a namespace, and checks that it has them before anything uses them. */
import type { Client } from '@temporalio/client';
import type { SearchAttributePair } from '@temporalio/common';
import { SandflowError } from '../errors/sandflow-error.js';
import { openAttributes, searchAttributes } from '../protocol/search-attributes.js';
import { isBusy, isTemporalUnreachable, reasonOf } from '../temporal/errors.js';

const wanted = Object.values(searchAttributes).map(({ name }) => name);
/** Temporal's `IndexedValueType`. */
const keyword = 2;

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
    const missing = wanted.filter((name) => there[name] === undefined);
    const wrong = wanted.find((name) => ![undefined, keyword].includes(there[name]));
    if (wrong) throw bad(`${namespace} has ${wrong}, but not as Keyword: remove it there`);
    const added = Object.fromEntries(missing.map((name) => [name, keyword]));
    if (missing.length > 0) await operatorService.addSearchAttributes({ namespace, searchAttributes: added });
    return Object.fromEntries(wanted.map((name) => [name, name in added ? 'added' : 'present']));
  } catch (error) {
    if (error instanceof SandflowError || mayPass(error)) throw error;
    const all = wanted.map((name) => `--sa ${name}=Keyword`).join(' ');
    const cloud = `in Temporal Cloud: \`tcld namespace search-attributes add -n ${namespace} ${all}\`, or its web pages`;
    throw bad(
      `${namespace} refuses it (${reasonOf(error as Error)}). Ask its administrator to add them; ${cloud}`,
      error,
    );
  }
}

const mayPass = (error: unknown) => isTemporalUnreachable(error) || isBusy(error);

/** Clients whose namespace had all of them. */
const complete = new WeakSet<Client>();

/**
 * Temporal itself would refuse only the workflow tasks that write one, again and again. Who may list may count, also in
 * Temporal Cloud.
 * @param batch id of the batch that is started; undefined for a job
 * @returns what the job or the batch starts with
 * @throws SandflowError `bad_search_attributes`
 */
export async function requireSearchAttributes(client: Client, batch?: string): Promise<SearchAttributePair[]> {
  if (complete.has(client)) return openAttributes(batch);
  try {
    await client.workflow.count(wanted.map((name) => `${name} = 'none'`).join(' OR '));
  } catch (error) {
    if (mayPass(error)) throw error;
    const mend =
      'Add them with `sandflow jobs attributes`, and set SANDFLOW_SEARCH_ATTRIBUTES=on for whatever starts jobs';
    throw bad(`${client.options.namespace} does not count by them (${reasonOf(error as Error)}). ${mend}`, error);
  }
  complete.add(client);
  return openAttributes(batch);
}

function bad(why: string, cause?: unknown): SandflowError {
  return new SandflowError('bad_search_attributes', `Search attributes cannot be used: ${why}.`, { cause });
}
