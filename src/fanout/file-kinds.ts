/**
 * Decides from the name and the lines of a file what its items are. Pure. What could be one prompt or many is refused:
 * a file that its writer meant as one prompt would otherwise be paid for line by line.
 */

export const itemFormats = ['text', 'file', 'jsonl', 'json', 'csv', 'tsv', 'swe-bench'] as const;
/** `text`: a prompt a line, or blocks between `---`. `file`: the whole file is one prompt. `swe-bench`: JSONL of its rows. */
export type ItemFormat = (typeof itemFormats)[number];

/** Where the repository of a row of SWE-bench is: a template. */
export const defaultRepositoryUrl = 'https://github.com/{{repo}}';

const formatsByEnding: Readonly<Record<string, ItemFormat>> = {
  '': 'text',
  txt: 'text',
  text: 'text',
  list: 'text',
  md: 'file',
  markdown: 'file',
  jsonl: 'jsonl',
  ndjson: 'jsonl',
  json: 'json',
  csv: 'csv',
  psv: 'csv',
  tsv: 'tsv',
  tab: 'tsv',
};

const eitherText = 'For one prompt use --format file, for a prompt a line --format text.';
const problems: readonly (readonly [names: RegExp, problem: string])[] = [
  [/\.(?:xls[xmb]?|ods|numbers)$/i, 'is a workbook. Save its sheet as CSV.'],
  [/\.(?:gz|tgz|zip|bz2|xz|zst|7z|tar)$/i, 'is packed. Unpack it first.'],
  [/\.(?:pdf|docx?|odt|rtf|pages)$/i, 'is a document. Save it as text.'],
  [/\.(?:parquet|arrow|feather|avro|pkl|sqlite|db)$/i, 'is not text. Save its records as JSONL or CSV.'],
];

/** What is in a file of items, or why its name does not say it. `problem` completes a sentence that begins with the name. */
export type FileKind =
  | { readonly format: ItemFormat; readonly problem?: undefined }
  | { readonly format?: undefined; readonly problem: string };

/** What the name of a file says, or that of stdin. */
export function kindOf(file: string): FileKind {
  const name = file.slice(file.lastIndexOf('/') + 1);
  const problem = problems.find(([names]) => names.test(name))?.[1];
  if (problem !== undefined) return { problem };
  // A number or a date at the end, as in `app.log.1`, says nothing of the content.
  const [, ending = ''] = /\.([^.]*)$/.exec(name.replace(/(?:\.[\d-]+)+$/, '')) ?? [];
  const isDocument = /^(?:[A-Z]\w*file|README|LICENSE|CHANGELOG|AGENTS)$/.test(name) || name.endsWith('.');
  const known = ending.toLowerCase();
  const format = !isDocument && Object.hasOwn(formatsByEnding, known) ? formatsByEnding[known] : undefined;
  return format === undefined ? { problem: `could be one prompt or many. ${eitherText}` } : { format };
}

type Sign = readonly [sign: RegExp, what: string, way: string];

const orText = (format: ItemFormat) => `Use --format ${format}, or --format text if it is a prompt.`;
const jsonSigns: readonly Sign[] = [
  [/^\{\s*(?:"[\s\S]*[\]},{[":]|)$/, 'JSONL', orText('jsonl')],
  [/^\[\s*(?:["{][\s\S]*[\]},{[":]|)$/, 'a JSON list', orText('json')],
];
/** Signs of comments, which are otherwise skipped. */
const commentSigns: readonly Sign[] = [
  [/^#!/, 'a script', eitherText],
  [/^#{2,6} /, 'a heading of Markdown', eitherText],
  [/^#\d/, 'a prompt, but a line that begins with # is skipped', 'Put another character first.'],
];
const lineSigns: readonly Sign[] = [
  ...jsonSigns,
  [/^(?:```|~~~)/, 'a block of code within a prompt', eitherText],
  [/[{\\]$|[\w)\]}'"]\s*;$|^\\[a-z]+[{[]/i, 'code', eitherText],
  [/^(?:diff --git|---|\+\+\+|@@) /, 'a part of a patch', eitherText],
  [/^>\s/, 'a quote of Markdown', eitherText],
  [
    /^(?:[-*+•–—]|\d+[.)]|[a-z]\)|\[[ x]\])\s/,
    'an entry of a list',
    `If each entry is a prompt, remove the marks before them. ${eitherText}`,
  ],
  [/^<(?:[?!]|[a-z][\w:-]*(?:\s[^<>]*)?>$)/i, 'XML or HTML', eitherText],
  [/^\[[\w.:-]+\]$/, 'a section of TOML or INI', eitherText],
  [/^(?:export )?[A-Z_][A-Z0-9_]*=(?:\S*|(["']).*\1)$/, 'a setting of a shell', eitherText],
  [/^[\w.-]+ = \S/, 'a setting of TOML or INI', eitherText],
  [/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/, 'a line of a log', eitherText],
  [/^(?:system|user|human|assistant): /i, 'a part of a conversation', eitherText],
  [/^[^\p{L}\p{N}\p{Extended_Pictographic}]+$/u, 'a part of something longer: it has no letters', eitherText],
  [/(?<!:\w+):$|,$/, 'the beginning of a longer text, by its last character', eitherText],
];
const yaml: Sign = [/^/, 'YAML', eitherText];
const headerSign = /\t|(?:^|[,;]|\|\s*)"?prompt"?\s*(?:[,;|]|$)|^"?id"?[,;|](?! )|^\w+(?:[,;|]\w+)+$/;

/**
 * Why a line is probably not a prompt of its own; undefined if it may be one.
 * @param text the line, also one that begins with `#`
 * @param options `before`: the line before it, without its end, or an empty text; `isFirst`: no prompt comes before it
 */
export function lineProblem(
  text: string,
  { before, isFirst }: { readonly before: string; readonly isFirst: boolean },
): string | undefined {
  const line = text.trim();
  const found = (text.startsWith('#') ? commentSigns : lineSigns).find(([sign]) => sign.test(line));
  if (found || text.startsWith('#')) return found && likeText(found);
  if (isFirst && headerSign.test(line)) return likeText([headerSign, 'the header of CSV', orText('csv')]);
  const isIndented = !isFirst && /^\s/.test(text);
  if (isIndented || isWrapped(before, line)) return `this seems to continue the line before it. ${eitherText}`;
  return isField(before) && isField(text) ? likeText(yaml) : undefined;
}

/** True if a sentence is broken where an editor breaks lines. */
function isWrapped(before: string, line: string): boolean {
  return before.length >= 50 && /^\p{Lu}/u.test(before) && /[\p{L}\p{N},]$/u.test(before) && /^\p{Ll}/u.test(line);
}

/** Why a block between lines of `---` is probably not a prompt; undefined if it may be one. */
export function blockProblem(block: string): string | undefined {
  const lines = block.split('\n');
  const isYaml = lines.some(isField) && lines.every((line) => isField(line) || /^(?:\s|-\s|#|$)/.test(line));
  const found = isYaml ? yaml : jsonSigns.find(([sign]) => sign.test(block));
  return found && likeText(found);
}

function likeText([, what, way]: Sign): string {
  return `this looks like ${what}. ${way}`;
}

/** True for a line as front matter has it. A prompt may begin with a capital: "Task: fix it". */
function isField(line: string): boolean {
  return /^(?:[a-z][\w-]*|Title):(?:\s|$)/.test(line);
}
