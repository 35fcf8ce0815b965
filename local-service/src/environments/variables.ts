/** Reads .env-style text (specification, "Environment", `envContents`). */
import { invalidRequest, type ServiceError } from '../service-error.js';

/** Linux accepts 128 KiB for one variable; 32 KiB of it are left for its name and for what a shell adds. */
export const maxVariableBytes = 96 * 1024;

const startPattern = /^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*/;
const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\', $: '$' };

/**
 * The variables of a text. If a name occurs more than once, its last value counts. Assumption, since the specification
 * says only ".env-style":
 *
 *     # a comment; blank lines are skipped
 *     NAME=value with spaces        # the value ends before this comment; spaces around it do not count
 *     export NAME='literal, "#" and lines too'
 *     NAME="with \n, \r, \t, \", \\ and \$; it may span several lines"
 *
 * Nothing is expanded: `$HOME` stays what it is. A value may hold `=`.
 * @throws ServiceError 400 that names the line, but not its content
 */
export function variablesIn(text: string): ReadonlyMap<string, string> {
  const variables = new Map<string, string>();
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    if (/^[ \t]*(#|$)/.test(line)) continue;
    const start = startPattern.exec(line);
    const [head, name] = start ?? [];
    if (head === undefined || name === undefined) throw malformed(index, 'does not have the form NAME=value');
    const rest = line.slice(head.length);
    const quote = rest.charAt(0);
    let value: string;
    if (quote === '"' || quote === "'") {
      const quoted = readQuoted(lines, { line: index, column: head.length + 1, quote });
      if (quoted === undefined) throw malformed(index, 'opens a quote that is never closed');
      if (!/^[ \t]*$|^[ \t]+#/.test(quoted.after))
        throw malformed(index + quoted.lines, 'continues after a closing quote');
      index += quoted.lines;
      value = quoted.value;
    } else {
      value = rest.replace(/(^|[ \t])#.*$/s, '').trim();
    }
    if (value.includes('\0')) throw malformed(index, 'contains a NUL character, which a variable cannot contain');
    if (Buffer.byteLength(value) > maxVariableBytes) {
      throw malformed(index, `ends a value of more than ${maxVariableBytes} bytes. Move it to a secret file`);
    }
    variables.set(name, value);
  }
  return variables;
}

interface Quoted {
  readonly value: string;
  /** The number of line ends in the quoted text. */
  readonly lines: number;
  /** What follows the closing quote in its line. */
  readonly after: string;
}

/** Reads a value that begins just after its opening quote. Undefined if the quote is not closed. */
function readQuoted(
  lines: readonly string[],
  start: { readonly line: number; readonly column: number; readonly quote: '"' | "'" },
): Quoted | undefined {
  const { quote } = start;
  let value = '';
  for (let number = start.line; number < lines.length; number += 1) {
    const line = lines[number] ?? '';
    if (number > start.line) value += '\n';
    for (let at = number > start.line ? 0 : start.column; at < line.length; at += 1) {
      const character = line.charAt(at);
      if (character === quote) return { value, lines: number - start.line, after: line.slice(at + 1) };
      const escaped = quote === '"' && character === '\\' ? escapes[line.charAt(at + 1)] : undefined;
      if (escaped !== undefined) at += 1;
      value += escaped ?? character;
    }
  }
  return undefined;
}

function malformed(index: number, problem: string): ServiceError {
  return invalidRequest(`envContents: line ${index + 1} ${problem}.`);
}
