/** Reads a YAML file, and reports the line of each problem. */
import { isMap, isNode, isPair, isScalar, isSeq, LineCounter, type Node, parseDocument, visit } from 'yaml';
import type { z } from 'zod';
import { checkInput, fieldText } from './input-problems.js';

/** What YAML is read for. */
export interface ReadYamlOptions<Output> {
  /** Name of the file, for errors. */
  readonly file: string;
  readonly schema: z.ZodType<Output>;
  /** How an error names the file as a whole, such as `the policy`. */
  readonly whole: string;
  /** A field of data, such as `items`, in which a number or a word keeps its writing as a text: `1.10`, `True`. Default: none. */
  readonly textsBelow?: string;
  /** @param lines one line for each problem, with the file and its line @returns the error */
  readonly refuse: (lines: readonly string[], cause?: unknown) => Error;
}

/** @param text YAML 1.2; JSON is YAML, too @throws the error of `refuse` */
export function readYaml<Output>(
  text: string,
  { file, schema, whole, textsBelow, refuse }: ReadYamlOptions<Output>,
): Output {
  const lines = new LineCounter();
  // A warning of the parser would quote the file.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' });
  const syntax = document.errors.map(({ message, pos }) => `${file}:${lines.linePos(pos[0]).line}: ${message}`);
  if (syntax.length > 0) throw refuse(syntax);
  const changed: string[] = [];
  visit(document, {
    Scalar(key, scalar, path) {
      const { value, source } = scalar;
      if (typeof value === 'string' || source === undefined) return;
      const [, pair] = path.filter((step) => isPair(step) || isMap(step));
      const isData = isPair(pair) && isScalar(pair.key) && pair.key.value === textsBelow;
      const isEntry = typeof value === 'number' && isSeq(path.at(-1)) && path.at(-2) === pair;
      if (key !== 'key' && (value === null || (String(value) === source && !(isData && isEntry)))) return;
      // A key is always a name.
      if (key === 'key' || isData) scalar.value = source;
      else if (typeof value === 'number') {
        const { line } = lines.linePos(scalar.range?.[0] ?? 0);
        changed.push(
          `${file}:${line}: ${source} would be read as ${value}. Write "${source}" for the text, or ${value}`,
        );
      }
    },
  });
  if (changed.length > 0) throw refuse(changed);
  const { data, problems } = checkInput(schema, plain(document, file, refuse) ?? {});
  if (problems === null) return data;
  const lineOf = (path: readonly PropertyKey[]) => {
    const offset = offsetOf(document.contents, path);
    return offset === undefined ? 1 : lines.linePos(offset).line;
  };
  throw refuse(
    problems.map(({ path, message }) => {
      const field = path.length === 0 ? whole : fieldText(path);
      return `${file}:${lineOf(path)}: ${field}: ${message}`;
    }),
  );
}

/** Aliases may be of nothing, or fill the memory. */
function plain(
  document: ReturnType<typeof parseDocument>,
  file: string,
  refuse: ReadYamlOptions<unknown>['refuse'],
): unknown {
  try {
    const value: unknown = document.toJS({ maxAliasCount: 10_000 });
    // An alias may name what contains it.
    JSON.stringify(value);
    return value;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'it cannot be read';
    throw refuse([`${file}: ${why}`], cause);
  }
}

/** Offset in the text of the entry at `path`. If the path is incomplete, its existing part counts. */
function offsetOf(root: Node | null, path: readonly PropertyKey[]): number | undefined {
  let node: unknown = root;
  let offset = root?.range?.[0];
  for (const step of path) {
    const pair = isMap(node) ? node.items.find(({ key: known }) => isScalar(known) && known.value === step) : undefined;
    const next = pair ? pair.value : isSeq(node) ? node.items[Number(step)] : undefined;
    const found = pair ? pair.key : next;
    if (!isNode(found) || found.range == null) return offset;
    offset = found.range[0];
    node = next;
  }
  return offset;
}
