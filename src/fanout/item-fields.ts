/** The fields that an item may have in a CSV, TSV or JSONL file, and how they are read. */
import { z } from 'zod';
import { sandboxTypes } from '../contract/records/sandbox-records.js';
import { reasoningEfforts } from '../contract/requests/sandbox-requests.js';
import { checkInput, fieldText, type InputProblem, problemLine } from '../settings/input-problems.js';
import { type ItemLine, type ItemPlace, ItemsError, type ReadLinesOptions } from './item-line.js';

const longestLabel = 120;

const name = z.string().min(1, 'must not be empty').max(4_096);
const shortName = z.string().min(1, 'must not be empty').max(200);
const promptText = z.string().refine((text) => text.trim() !== '', 'must not be empty');
const agent = {
  provider: shortName.optional(),
  model: shortName.optional(),
  effort: z.enum(reasoningEfforts).optional(),
};
const scalar = z.union([z.string(), z.boolean()]).transform(String);

const fields = {
  /** How long it may be is checked with what a matrix adds to it. */
  id: z.string().min(1, 'must not be empty').optional(),
  ...agent,
  type: z.enum(sandboxTypes).optional(),
  end: z.enum(['stop', 'delete', 'keep']).optional(),
  deadline: z.string().optional(),
  /** Path in the fork → file on this machine. */
  put: z.record(name, name).optional(),
  get: z.union([name.transform((path) => [path]), z.array(name)]).optional(),
  /** Folder of a git repository in the fork. */
  getDiff: name.optional(),
  labels: z.record(name, scalar).optional(),
};
const step = z.union([
  promptText.transform((prompt) => ({ prompt })),
  z
    .strictObject({ prompt: promptText, ...agent })
    .transform(({ effort, ...rest }) => ({ ...rest, ...(effort && { reasoningEffort: effort }) })),
]);
const withPrompts = {
  ...fields,
  prompt: promptText.optional(),
  prompts: z.array(step).min(1, 'must have at least one').optional(),
};
const shapes = { strict: z.strictObject(withPrompts), loose: z.object(withPrompts), template: z.object(fields) };
type Parsed = z.output<typeof shapes.loose>;

/** Names of the fields that sandflow knows. Any other name is a column for a template. */
export const itemFieldNames: ReadonlySet<string> = new Set([...Object.keys(fields), 'prompt', 'prompts']);

/**
 * Reads a record of any format. Its numbers are texts, with their digits as they are written.
 * @throws ItemsError naming every field that is wrong
 */
export function itemOfRecord(
  place: ItemPlace,
  record: Readonly<Record<string, unknown>>,
  options: ReadLinesOptions & {
    /** The text of each field, as a template inserts it. */
    readonly columns: ReadonlyMap<string, string>;
    /** What happens to a field that sandflow does not know: it is refused as a mistake, or shown as a label. */
    readonly otherFields: 'refuse' | 'label';
  },
): ItemLine {
  const own = options.template || options.otherFields === 'label';
  const parsed = checkInput(shapeOf(options.template, own), record);
  if (parsed.problems !== null) throw new ItemsError(place, textOfProblems(parsed.problems));
  const { id = null, deadline, put = {}, get = [], getDiff, labels, prompt, prompts, ...rest } = parsed.data;
  if (!options.template && (prompt === undefined) === (prompts === undefined)) {
    const both = prompt !== undefined;
    throw new ItemsError(
      place,
      both
        ? 'the item has both prompt and prompts. Use only one of them.'
        : `the item has no prompt. Add one, or build prompts from its columns: --prompt "… {{${Object.keys(record)[0] ?? 'column'}}}".`,
    );
  }
  return {
    place,
    id,
    prompts: options.template ? null : (prompts ?? [{ prompt: prompt ?? '' }]),
    ...rest,
    ...(deadline !== undefined && { deadlineMs: durationOf(place, deadline, options) }),
    put: Object.entries(put).map(([remote, local]) => ({ local, remote })),
    get,
    ...(getDiff !== undefined && { getDiff }),
    labels: { ...(own ? labelsOf(options.columns) : {}), ...labels },
    columns: options.columns,
  };
}

function shapeOf(template: boolean, own: boolean): z.ZodType<Parsed> {
  if (template) return shapes.template;
  return own ? shapes.loose : shapes.strict;
}

function durationOf(place: ItemPlace, text: string, { parseDurationMs }: ReadLinesOptions): number {
  try {
    return parseDurationMs(text);
  } catch (cause) {
    throw new ItemsError(place, cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** Turns the columns that sandflow does not know into labels, which distinguish items in reports. */
function labelsOf(columns: ReadonlyMap<string, string>): Record<string, string> {
  const own = [...columns].filter(([name, text]) => !itemFieldNames.has(name) && text !== '');
  return Object.fromEntries(own.map(([name, text]) => [name, cut(text)]));
}

function cut(text: string): string {
  return text.length > longestLabel ? `${text.slice(0, longestLabel - 1)}…` : text;
}

function textOfProblems(problems: readonly InputProblem[]): string {
  const unknown = problems.filter(({ unknownField }) => unknownField).map(({ path }) => fieldText(path));
  const known = problems.filter(({ unknownField }) => !unknownField).map(problemLine);
  const fields = `The fields of an item are ${[...itemFieldNames].join(', ')}; other columns need a template (--prompt)`;
  const texts = unknown.length === 0 ? known : [...known, `unknown field ${unknown.join(', ')}. ${fields}`];
  return `${texts.join('; ')}.`;
}
