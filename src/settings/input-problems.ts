/** Says what is wrong with an input, in words for people, where zod speaks of its types. */
import type { z } from 'zod';

/** One thing that is wrong with an input. */
export interface InputProblem {
  /** Where: names of fields and indexes of lists. Empty: the input as a whole. */
  readonly path: readonly PropertyKey[];
  /** What is wrong, like `must be stop or keep, not "burn"`. For an unknown field also which ones there are. */
  readonly message: string;
  /** True for a field that the input may not have; it is the last of `path`. */
  readonly unknownField: boolean;
}

/** The value, or at least one problem. */
export type CheckedInput<Output> =
  | { readonly data: Output; readonly problems: null }
  | { readonly data: null; readonly problems: readonly InputProblem[] };

/** Parses `value`. Never throws for a wrong value. */
export function checkInput<Output>(schema: z.ZodType<Output>, value: unknown): CheckedInput<Output> {
  const parsed = schema.safeParse(value, { error: problemText });
  if (parsed.success) return { data: parsed.data, problems: null };
  return { data: null, problems: parsed.error.issues.flatMap(withoutUnions).flatMap(problemsOf) };
}

/** `prompts.0.prompt: must be …`, or only the text for the input as a whole. */
export function problemLine({ path, message }: Pick<InputProblem, 'path' | 'message'>): string {
  return path.length === 0 ? message : `${path.join('.')}: ${message}`;
}

/** `rules[0].action`, as in the text of a file. */
export function fieldText(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, step) =>
      typeof step === 'number' ? `${text}[${step}]` : text === '' ? String(step) : `${text}.${String(step)}`,
    '',
  );
}

type Issue = z.core.$ZodIssue;

/** For a value that fits none of several forms, reports the problems of the form that fits best. */
function withoutUnions(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return [issue];
  const forms = issue.errors.map((errors) => errors.flatMap(withoutUnions));
  const depth = (errors: readonly Issue[]) => Math.max(0, ...errors.map(({ path }) => path.length));
  const [best = []] = forms.toSorted((a, b) => depth(b) - depth(a));
  return best.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
}

function problemsOf(issue: Issue): InputProblem[] {
  const { path, message } = issue;
  if (issue.code !== 'unrecognized_keys') return [{ path, message, unknownField: false }];
  return issue.keys.map((key) => ({ path: [...path, key], message, unknownField: true }));
}

const kinds: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

/** The text of an issue whose schema has none of its own. */
function problemText(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined && (issue.code === 'invalid_type' || issue.code === 'invalid_value'))
    return 'is missing';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${kinds[issue.expected] ?? issue.expected}, not ${shownInsteadOf(issue.expected, issue.input)}`;
    case 'invalid_value':
      return `must be ${oneOf(issue.values)}, not ${shown(issue.input)}`;
    case 'too_small':
      return `must ${sizeText(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum)}`;
    case 'too_big':
      return `must ${sizeText(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum)}`;
    case 'unrecognized_keys':
      return unknownField(issue.inst);
    case 'invalid_format':
      return issue.format === 'url' ? 'must be a URL, like https://example.com/path' : undefined;
    default:
      return undefined;
  }
}

/** A wrong guess of a field is mended at once if the right ones are named. */
function unknownField(schema: unknown): string {
  const { _zod: parts } = schema as { readonly _zod?: { readonly def: { readonly shape?: object } } };
  const fields = Object.keys(parts?.def.shape ?? {});
  return fields.length === 0 ? 'unknown field' : `unknown field; the fields are ${fields.join(', ')}`;
}

function sizeText(origin: string, than: string, size: number | bigint): string {
  if (origin === 'string')
    return than === 'at least' && size === 1 ? 'not be empty' : `have ${than} ${size} characters`;
  if (origin === 'array' || origin === 'set') return `have ${than} ${size} ${Number(size) === 1 ? 'entry' : 'entries'}`;
  return `be ${than} ${size}`;
}

function oneOf(values: readonly unknown[]): string {
  const texts = values.map(String);
  return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} or ${texts.at(-1)}`;
}

const longestShown = 40;

/** A text in the place of an object may be a secret that belongs into it, such as a token instead of its file. */
function shownInsteadOf(expected: string, value: unknown): string {
  return typeof value === 'string' && ['object', 'record'].includes(expected) ? 'a text' : shown(value);
}

/** Long values are not quoted: they may be prompts or scripts. */
function shown(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  // JSON can represent neither.
  if (typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value))) return String(value);
  if (typeof value === 'string' && value.length > longestShown) return `a text of ${value.length} characters`;
  return JSON.stringify(value) ?? typeof value;
}
