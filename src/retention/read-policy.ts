/** Reads a policy file, and reports the line of each problem. */
import { isMap, isNode, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import type { z } from 'zod';
import { SandflowError } from '../contract/errors/sandflow-error.js';
import { noCommandText } from '../contract/notify-command.js';
import type { CleanupPolicy } from './policy.js';
import { policyOf, policySchema } from './policy-schema.js';

/** Limit of a policy, in characters: it is part of the input of a workflow and of its schedule. */
const longestPolicy = 200_000;

export interface ReadPolicyOptions {
  /**
   * Returns the id of a command that `notify` gives as text. The text does not become part of the policy. Default: such
   * a command is refused.
   */
  readonly idOfCommand?: (command: string) => string;
}

/**
 * @param text YAML 1.2; JSON is YAML, too
 * @param file its name, for errors
 * @throws SandflowError `bad_policy`: one line for each problem, with the line of the file
 */
export function readPolicy(text: string, file: string, { idOfCommand }: ReadPolicyOptions = {}): CleanupPolicy {
  if (text.length > longestPolicy) throw badPolicy([`${file}: is longer than ${longestPolicy} characters`]);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const syntax = document.errors.map(({ message, pos }) => `${file}:${lines.linePos(pos[0]).line}: ${message}`);
  if (syntax.length > 0) throw badPolicy(syntax);
  const parsed = policySchema.safeParse(plain(document, file) ?? {});
  const lineOf = (path: readonly PropertyKey[], key?: string) => {
    const offset = offsetOf(document.contents, path, key);
    return offset === undefined ? 1 : lines.linePos(offset).line;
  };
  const refuseCommand = () => {
    throw badPolicy([`${file}:${lineOf(['notify', 'command'])}: notify.command: ${noCommandText}`]);
  };
  if (parsed.success) return policyOf(parsed.data, idOfCommand ?? refuseCommand);
  throw badPolicy(
    parsed.error.issues.flatMap(flatten).flatMap((issue) => {
      if (issue.code !== 'unrecognized_keys') {
        return `${file}:${lineOf(issue.path)}: ${pathText(issue.path)}: ${issue.message}`;
      }
      return issue.keys.map(
        (key) => `${file}:${lineOf(issue.path, key)}: ${pathText([...issue.path, key])}: unknown field`,
      );
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

/**
 * If a value may be single or a list, selects the branch of the union with the deepest problem, which says the most.
 */
function flatten(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const branches = issue.errors.map((errors) => errors.flatMap(flatten));
  const depth = (errors: readonly z.core.$ZodIssue[]) => Math.max(0, ...errors.map(({ path }) => path.length));
  const [best = []] = branches.sort((a, b) => depth(b) - depth(a));
  return best.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
}

/**
 * Offset in the text of the entry at `path`, or of the key `key` in it. If the path is incomplete, its existing part
 * counts.
 */
function offsetOf(root: Node | null, path: readonly PropertyKey[], key?: string): number | undefined {
  let node: unknown = root;
  let offset = root?.range?.[0];
  for (const step of key === undefined ? path : [...path, key]) {
    const pair = isMap(node) ? node.items.find(({ key: known }) => isScalar(known) && known.value === step) : undefined;
    const next = pair ? pair.value : isSeq(node) ? node.items[Number(step)] : undefined;
    const found = pair ? pair.key : next;
    if (!isNode(found) || found.range == null) return offset;
    offset = found.range[0];
    node = next;
  }
  return offset;
}

function pathText(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'the policy';
  return path.reduce<string>(
    (text, step) =>
      typeof step === 'number' ? `${text}[${step}]` : text === '' ? String(step) : `${text}.${String(step)}`,
    '',
  );
}

function badPolicy(problems: readonly string[]): SandflowError {
  return new SandflowError('bad_policy', `The policy is invalid:\n  ${problems.join('\n  ')}`);
}
