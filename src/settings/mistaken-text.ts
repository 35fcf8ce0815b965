/**
 * Texts that a shell would have changed, and nothing does later: quotes, `~`, `$HOME`, the comment of a line. A quoted
 * `SANDFLOW_HOME="/x"` made a folder called `"` in the project, with secrets in it.
 */

/** Node gives this character for bytes that are no UTF-8, such as those of Latin-1: it would use another name. */
const notUtf8 = '\ufffd';
const unexpanded = 'contains a variable, which is not expanded here. Write its value';
const comment = 'contains a comment. Put it on a line of its own';

/** Says how a text was not meant, without quoting it, as the end of a message; undefined if it may be meant. */
export function mistakenText(text: string): string | undefined {
  return mistakenWord(text) ?? (/(?:^|\s)#/.test(text) ? comment : undefined);
}

/** As `mistakenText`, for a secret, which may hold any characters. */
export function mistakenSecret(text: string): string | undefined {
  if (/^["'`]/.test(text))
    return 'begins with a quotation mark, which is not removed here. Leave the quotation marks out';
  return text.startsWith('${') ? unexpanded : undefined;
}

/** As `mistakenText`, for a path of this machine, in which `a #1` may be a name. */
export function mistakenPath(path: string): string | undefined {
  const problem = unexpandedPath(path) ?? mistakenWord(path);
  if (problem !== undefined) return problem;
  if (/^\s*#|\s#\s/.test(path)) return comment;
  return path === path.trim() ? undefined : 'begins or ends with a blank';
}

function mistakenWord(text: string): string | undefined {
  const problem = mistakenSecret(text);
  if (problem !== undefined) return problem;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that are refused
  if (/[\u0000-\u001f\u007f]/.test(text)) return 'contains a line end or another control character';
  if (text.includes(notUtf8)) return 'is not UTF-8';
  return /^\$[A-Za-z_(]|\$\{/.test(text) ? unexpanded : undefined;
}

/** As `mistakenPath`, for a word of a command line: a shell has read it, so that it may hold blanks and comments. */
export function unexpandedPath(path: string): string | undefined {
  const problem = unexpandedStart(path);
  if (problem !== undefined) return `${problem}. To mean such a name, write ./ before it`;
  if (/[\r\n]$/.test(path)) return 'ends with a line end. Leave it out';
  return path.includes(notUtf8) ? 'is not UTF-8' : undefined;
}

function unexpandedStart(path: string): string | undefined {
  if (path.startsWith('~')) return 'begins with ~, which is not expanded here. Write the whole path';
  if (/^file:/i.test(path)) return 'is a URL. Write a path';
  return mistakenSecret(path) ?? (/^\$[A-Za-z_(]/.test(path) ? unexpanded : undefined);
}
