/** The fields that an item may have in a CSV, TSV or JSONL file, how they are read, and when such a name is only data. */
import { z } from 'zod';
import { isSandboxId } from '../contract/workflow-safe/ids.js';
import { fieldOf } from '../job-settings/fields.js';
import { jobSettings } from '../job-settings/job-settings.js';
import type { Kind, Setting } from '../job-settings/setting.js';
import type { PromptStep } from '../protocol/job/job-input.js';
import { maxSteps } from '../protocol/limits.js';
import { checkInput, fieldText, type InputProblem, problemLine } from '../settings/input-problems.js';
import { type ItemLine, type ItemPlace, ItemsError, type ReadLinesOptions, type SourceWish } from './item-line.js';
import { namesIn } from './template.js';

const longestLabel = 120;

const name = z.string().min(1, 'must not be empty').max(4_096);
const shortName = z.string().min(1, 'must not be empty').max(200);
const promptText = z.string().refine((text) => text.trim() !== '', 'must not be empty');
const scalar = z.union([z.string(), z.boolean()]).transform(String);

/** How a record writes a value of each kind. Its numbers are texts. */
const written: Readonly<Partial<Record<Kind, (row: Setting) => z.ZodType>>> = {
  choice: ({ values = [] }) => z.enum(values as readonly [string, ...string[]]),
  name: () => shortName,
  duration: () => z.string(),
  /** Path in the fork → file on this machine. */
  files: () =>
    z.record(name, name, {
      error: ({ input }) =>
        typeof input === 'string' ? 'must be LOCAL:REMOTE in CSV, like report.csv:data/report.csv' : undefined,
    }),
  commands: ({ most = maxSteps }) => z.union([promptText.transform((one) => [one]), z.array(promptText).max(most)]),
  paths: () => z.union([name.transform((path) => [path]), z.array(name)]),
  folder: () => name,
};

const ofItems = Object.entries<Setting>(jobSettings).filter(([, { item }]) => item === true);
const [ofPrompts, ofJobs] = [true, false].map((is) => ofItems.filter(([, { of }]) => (of === 'prompt') === is)) as [
  typeof ofItems,
  typeof ofItems,
];

const shapeOf = (rows: readonly (readonly [string, Setting])[]) =>
  Object.fromEntries(rows.map(([key, row]) => [key, (written[row.kind]?.(row) ?? z.never()).optional()]));

const commandsOf = z.union([promptText.transform((one) => [one]), z.array(promptText).min(1).max(maxSteps)]);
/** What an item says of its source. Rows of the batch have other values under these names. */
const sourceFields = {
  source: z.string().refine(isSandboxId, 'must be the id of a sandbox, like bx_2345abcd').optional(),
  snapshot: shortName.optional(),
  environment: shortName.optional(),
  setup: commandsOf.optional(),
};
/** The names of these fields. */
export const sourceFieldNames = Object.keys(sourceFields) as readonly (keyof SourceWish)[];

/** The names of the fields whose values run in the fork of the item. */
const commandNames = ofItems.flatMap(([name, { kind }]) => (kind === 'commands' ? [name] : []));

const fields = {
  /** How long it may be is checked with what a matrix adds to it. */
  id: z.string().min(1, 'must not be empty').optional(),
  ...shapeOf(ofItems),
  ...sourceFields,
  labels: z.record(name, scalar).optional(),
};
const step = z.union([
  promptText.transform((prompt) => ({ prompt })),
  z
    .strictObject({ prompt: promptText, ...shapeOf(ofPrompts) })
    .transform(({ prompt, ...given }) => ({ prompt, ...fieldsOf(given, ofPrompts, String) })),
]);
const withPrompts = {
  ...fields,
  prompt: promptText.optional(),
  prompts: z.array(step).min(1, 'must have at least one').optional(),
};
const shapes = { strict: z.strictObject(withPrompts), loose: z.object(withPrompts), template: z.object(fields) };

interface Parsed extends SourceWish {
  readonly id?: string;
  readonly put?: Readonly<Record<string, string>>;
  readonly get?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly prompt?: string;
  readonly prompts?: readonly PromptStep[];
  readonly [setting: string]: unknown;
}

/** The fields that the given settings set, without files. */
function fieldsOf(
  given: Readonly<Record<string, unknown>>,
  rows: readonly (readonly [string, Setting])[],
  durationMs: (text: string) => unknown,
): Readonly<Record<string, unknown>> {
  const set = rows.filter(([key, { kind }]) => given[key] !== undefined && kind !== 'files' && kind !== 'paths');
  return Object.fromEntries(
    set.map(([key, row]) => [fieldOf(key, row), row.kind === 'duration' ? durationMs(String(given[key])) : given[key]]),
  );
}

/** Names of the fields that sandflow knows. Any other name is a column for a template. */
export const itemFieldNames: ReadonlySet<string> = new Set([...Object.keys(fields), 'prompt', 'prompts']);

/**
 * Reads a record of any format. Its numbers are texts, with their digits as they are written. A field of null is absent.
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
  const { template, columns } = options;
  const own = template || options.otherFields === 'label';
  const shape = shapes[template ? 'template' : own ? 'loose' : 'strict'] as unknown as z.ZodType<Parsed>;
  const given = withoutNulls(record) as Readonly<Record<string, unknown>>;
  const data = template ? dataIn(place, given, options) : new Set<string>();
  const fieldsOnly = Object.entries(given).filter(
    ([name, value]) => !data.has(name) && !(template && isBlank(name, value)),
  );
  const parsed = checkInput(shape, Object.fromEntries(fieldsOnly));
  if (parsed.problems !== null) throw new ItemsError(place, textOfProblems(parsed.problems, given));
  const { id = null, put = {}, get = [], labels, prompt, prompts } = parsed.data;
  if (!template && (prompt === undefined) === (prompts === undefined)) {
    const both = prompt !== undefined;
    throw new ItemsError(
      place,
      both
        ? 'the item has both prompt and prompts. Use only one of them.'
        : `the item has no prompt. Add one, or build prompts from its columns: --prompt "… {{${Object.keys(record)[0] ?? 'column'}}}".`,
    );
  }
  const texts = [
    prompt ?? '',
    ...(prompts ?? []).flatMap((step) => (typeof step.prompt === 'string' ? [step.prompt] : [])),
  ];
  const unfilled = texts.flatMap(namesIn).find((name) => name !== 'prompt' && columns.has(name));
  if (unfilled !== undefined) {
    const why = `the prompt has {{${unfilled}}}, but only --prompt is filled from columns. To fill it, use --prompt "… {{${unfilled}}} …"; to send the braces, --prompt "{{prompt}}".`;
    throw new ItemsError(place, why);
  }
  const settings = [...ofItems.map(([name]) => name), ...sourceFieldNames].filter(
    (name) => parsed.data[name] !== undefined,
  );
  return {
    place,
    id,
    prompts: template ? null : (prompts ?? [{ prompt: prompt ?? '' }]),
    choice: fieldsOf(parsed.data, ofPrompts, String),
    settings: fieldsOf(parsed.data, ofJobs, (text) => durationOf(place, text, given, options)),
    put: Object.entries(put).map(([remote, local]) => ({ local, remote })),
    get,
    ...sourceIn(place, parsed.data),
    labels: { ...(own ? labelsOf(columns, data) : {}), ...labels },
    namedAs: {
      settings,
      data: [...data],
      commands: own ? settings.filter((name) => name === 'setup' || commandNames.includes(name)) : [],
    },
    columns,
  };
}

/** @throws ItemsError if the item names a sandbox and how to make another one */
function sourceIn(place: ItemPlace, data: Parsed): Pick<ItemLine, 'source'> {
  const there = sourceFieldNames.filter((name) => data[name] !== undefined);
  const [first, ...others] = there;
  if (first === 'source' && others.length > 0) {
    const why = `the item has source and ${others.join(', ')}, but a sandbox is forked as it is. Leave out source or ${others.join(', ')}, or rename what is data.`;
    throw new ItemsError(place, why);
  }
  return first === undefined ? {} : { source: Object.fromEntries(there.map((name) => [name, data[name]])) };
}

/** Exports write null for what a record does not have. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const there = Object.entries(value).filter(([, one]) => one !== null);
  return Object.fromEntries(there.map(([name, one]) => [name, withoutNulls(one)]));
}

/** True also for what holds nothing, such as the `labels` of an issue that has none. That no command runs is a setting. */
function isBlank(name: string, value: unknown): boolean {
  if (Array.isArray(value) && commandNames.includes(name)) return false;
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return typeof value === 'string' && value.trim() === '';
}

/**
 * The fields that cannot be what their names say. A template may use them as any other column.
 * @throws ItemsError if the same field of an earlier record can, or could not: one of the two is then a mistake
 */
function dataIn(
  place: ItemPlace,
  record: Readonly<Record<string, unknown>>,
  { firstValues, parseDurationMs }: ReadLinesOptions,
): ReadonlySet<string> {
  const wrong = new Map<unknown, string>();
  for (const problem of checkInput(shapes.template, record).problems ?? [])
    wrong.set(problem.path[0], problemLine(problem));
  for (const [name] of ofItems.filter(([, { kind }]) => kind === 'duration')) {
    const text = record[name];
    try {
      if (typeof text === 'string') parseDurationMs(text);
    } catch (cause) {
      wrong.set(name, messageOf(cause));
    }
  }
  const data = new Set<string>();
  for (const name of Object.keys(fields)) {
    if (record[name] === undefined || isBlank(name, record[name])) continue;
    const one = { place, why: wrong.get(name) };
    if (one.why !== undefined) data.add(name);
    const first = firstValues.get(name) ?? one;
    firstValues.set(name, first);
    const [bad, good] = one.why === undefined ? [first, one] : [one, first];
    if (bad.why === undefined || good.why !== undefined) continue;
    const mend = `Mend it, or rename ${name} if it is data: ${good.place.file}:${good.place.line} sets it.`;
    throw new ItemsError(bad.place, `${bad.why.replace(/\.$/, '')}. ${mend}`);
  }
  return data;
}

function durationOf(
  place: ItemPlace,
  text: string,
  record: Readonly<Record<string, unknown>>,
  { parseDurationMs }: ReadLinesOptions,
): number {
  try {
    return parseDurationMs(text);
  } catch (cause) {
    throw new ItemsError(place, `${messageOf(cause)}${wayIfData('deadline', record)}`, { cause });
  }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

/** Turns the columns that are only data into labels, which distinguish items in reports. */
function labelsOf(columns: ReadonlyMap<string, string>, data: ReadonlySet<string>): Record<string, string> {
  const own = [...columns].filter(([name, text]) => (data.has(name) || !itemFieldNames.has(name)) && text !== '');
  return Object.fromEntries(own.map(([name, text]) => [name, cut(text)]));
}

function cut(text: string): string {
  return text.length > longestLabel ? `${text.slice(0, longestLabel - 1)}…` : text;
}

function textOfProblems(problems: readonly InputProblem[], record: Readonly<Record<string, unknown>>): string {
  const unknown = problems.filter(({ unknownField }) => unknownField).map(({ path }) => fieldText(path));
  const known = problems.filter(({ unknownField }) => !unknownField).map(problemLine);
  const fields = `The fields of an item are ${[...itemFieldNames].join(', ')}; other columns need a template (--prompt)`;
  const texts = unknown.length === 0 ? known : [...known, `unknown field ${unknown.join(', ')}. ${fields}`];
  return `${texts.join('; ')}.${wayIfData(problems[0]?.path[0], record)}`;
}

/** A template takes fields as data. */
function wayIfData(name: unknown, record: Readonly<Record<string, unknown>>): string {
  const mayBeData = String(name) in shapes.template.shape && 'prompt' in record;
  return mayBeData ? ` If ${String(name)} is data, use --prompt "{{prompt}}".` : '';
}
