/** Reads a policy file, and reports the line of each problem. */
import { isMap, isNode, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { SandflowError } from '../errors/sandflow-error.js';
import type { CleanupPolicy } from '../protocol/cleanup-policy.js';
import { checkInput, fieldText } from '../settings/input-problems.js';
import { policyOf, policySchema } from './policy-schema.js';

/** Limit of a policy, in characters: it is part of the input of a workflow and of its schedule. */
const longestPolicy = 200_000;

/**
 * @param text YAML 1.2; JSON is YAML, too
 * @param file its name, for errors
 * @throws SandflowError `bad_policy`: one line for each problem, with the line of the file
 * @example
 * const policy = readPolicy(await readFile('nightly.yaml', 'utf8'), 'nightly.yaml');
 */
export function readPolicy(text: string, file: string): CleanupPolicy {
  if (text.length > longestPolicy) throw badPolicy([`${file}: is longer than ${longestPolicy} characters`]);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const syntax = document.errors.map(({ message, pos }) => `${file}:${lines.linePos(pos[0]).line}: ${message}`);
  if (syntax.length > 0) throw badPolicy(syntax);
  const { data, problems } = checkInput(policySchema, plain(document, file) ?? {});
  const lineOf = (path: readonly PropertyKey[]) => {
    const offset = offsetOf(document.contents, path);
    return offset === undefined ? 1 : lines.linePos(offset).line;
  };
  if (problems === null) return policyOf(data);
  throw badPolicy(
    problems.map(({ path, message }) => {
      const field = path.length === 0 ? 'the policy' : fieldText(path);
      return `${file}:${lineOf(path)}: ${field}: ${message}`;
    }),
  );
}

function plain(document: ReturnType<typeof parseDocument>, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'it cannot be read';
    throw new SandflowError('bad_policy', `${file}: ${why}`, { cause });
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

function badPolicy(problems: readonly string[]): SandflowError {
  return new SandflowError('bad_policy', `The policy is invalid:\n  ${problems.join('\n  ')}`);
}
