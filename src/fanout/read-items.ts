/** Reads the items of a batch one after the other, so that their number and size are not limited by memory. */
import { bytesOf } from '../protocol/stored-text.js';
import { readCsvLines } from './csv-lines.js';
import { defaultRepositoryUrl, type ItemFormat } from './file-kinds.js';
import { type ItemLine, ItemsError, type ReadLinesOptions } from './item-line.js';
import { readJsonList, readJsonlLines } from './json-items.js';
import { maxItemBytes } from './lines.js';
import { expandItem, type ItemWish, type Matrix } from './matrix.js';
import { sweBenchItems } from './swe-bench.js';
import { createTemplate } from './template.js';
import { readTextLines, readWholeFile } from './text-lines.js';

/** In characters, with what a matrix adds. A batch has the same limit. */
const longestId = 200;

export interface ItemSource {
  /** The name that the user gave; for errors. */
  readonly file: string;
  readonly format: ItemFormat;
  /** True if no format was given: text that looks like another kind of file is then an error. */
  readonly guessed: boolean;
  open(): AsyncIterable<string | Uint8Array>;
}

export interface ReadItemsOptions {
  /**
   * Templates of the prompts, in order; the columns of each record fill them. Empty if the records have their own
   * prompts.
   */
  readonly templates: readonly string[];
  readonly matrix: Matrix;
  /** The address of the repository of a row of SWE-bench: a template. Default: at GitHub. */
  readonly repositoryUrl?: string;
  /** Parses a duration such as `30m`. @throws if the text is not a duration */
  readonly parseDurationMs: ReadLinesOptions['parseDurationMs'];
}

/**
 * Reads every item of all sources, in order. Holds one record at a time, and the ids of all items.
 * @throws ItemsError `bad_items` with file, line and, where known, column
 */
export async function* readItems(
  sources: readonly ItemSource[],
  options: ReadItemsOptions,
): AsyncGenerator<ItemWish, void, undefined> {
  const templates = options.templates.map(createTemplate);
  const seen = new Map<string, string>();
  const refuseSame = createSameCheck();
  let count = 0;
  for (const source of sources) {
    for await (const line of linesOf(source, options)) {
      count += 1;
      if (templates.length > 0 && templates.every(({ columns }) => columns.length === 0)) refuseSame(line);
      const refuse = (why: string) => new ItemsError(line.place, why);
      const prompts = line.prompts ?? templates.map(({ fill }) => ({ prompt: fill(line.columns, refuse) }));
      for (const item of expandItem({ ...line, id: line.id ?? String(count) }, prompts, options.matrix)) {
        checkId(item, seen);
        checkSize(item);
        yield item;
      }
    }
  }
}

function linesOf({ file, format, guessed, open }: ItemSource, options: ReadItemsOptions): AsyncIterable<ItemLine> {
  const { parseDurationMs, templates, repositoryUrl = defaultRepositoryUrl } = options;
  const how = { template: templates.length > 0, firstValues: new Map(), parseDurationMs };
  switch (format) {
    case 'jsonl':
      return readJsonlLines(file, open(), how);
    case 'json':
      return readJsonList(file, open(), how);
    case 'swe-bench':
      return readJsonlLines(file, open(), { ...how, itemOf: sweBenchItems(repositoryUrl, how) });
    case 'csv':
    case 'tsv':
      return readCsvLines(file, open(), { ...how, likely: format === 'csv' ? ',' : '\t' });
    case 'text':
      return readTextLines(file, open(), { ...how, guessed });
    case 'file':
      return readWholeFile(file, open(), how);
  }
}

/** Items that differ only in columns that no template uses would all do the same. `--repeat` is the way to want that. */
function createSameCheck(): (line: ItemLine) => void {
  const works = new Map<string, number>();
  return ({ place, columns, put, get, source, choice, settings: { end: _, ...settings } }) => {
    const work = JSON.stringify([put, get, source, choice, settings]);
    const isNone = put.length + get.length + Object.keys({ ...choice, ...settings, ...source }).length === 0;
    const same = isNone ? 'every item' : works.has(work) ? `this item and that of line ${works.get(work)}` : undefined;
    works.set(work, place.line);
    if (same === undefined) return;
    const names = [...columns.keys()];
    const why = `the template uses no column, so ${same} would have the same prompt. Name one: {{${names[0]}}}. The columns are ${names.join(', ')}.`;
    throw new ItemsError(place, why);
  };
}

function checkId({ id, place }: ItemWish, seen: Map<string, string>): void {
  const at = `${place.file}:${place.line}`;
  if (id.length > longestId) {
    throw new ItemsError(place, `the id has ${id.length} characters; the limit is ${longestId}.`);
  }
  if (/\p{Cc}/u.test(id)) throw new ItemsError(place, 'the id contains control characters. Remove them.');
  const other = seen.get(id);
  if (other !== undefined) {
    const why = `the id ${id} is already used in ${other}. Ids must be unique. An item without an id gets its number: rename the field if it is none.`;
    throw new ItemsError(place, why);
  }
  seen.set(id, at);
}

function checkSize(item: ItemWish): void {
  const bytes = item.prompts.reduce((sum, { prompt }) => sum + bytesOf(prompt), 0);
  if (bytes > maxItemBytes) {
    const why = `the prompts have ${bytes} bytes; the limit is ${maxItemBytes}. Put long texts into files, and write these into the fork with put.`;
    throw new ItemsError(item.place, why);
  }
}
