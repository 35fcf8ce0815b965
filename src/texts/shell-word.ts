/** Writes text as one word of a shell. Pure. */

/** The text in quotes, whatever is in it. */
export function quotedForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The same without quotes where a person would write none. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : quotedForShell(text);
}
