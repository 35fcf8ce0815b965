/**
 * Commands that this program suggests. People paste them into a shell, and results and answers of the service are not
 * trusted.
 */

/**
 * Foreign text as a word of a suggested command. Returns `placeholder` if a shell could take the text for more than a
 * plain word, or a command for an option.
 */
export function pasteable(text: string, placeholder: 'SANDBOX' | 'NAME' | 'PATH' | 'WEBHOOK' | 'ITEM'): string {
  return /^[\w./][\w./-]{0,199}$/.test(text) ? text : placeholder;
}
