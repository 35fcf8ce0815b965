/** Computes the id of a notify command. Apart from the file of commands, because command lines need only the id. */
import { createHash } from 'node:crypto';

/**
 * The id of a command without a name.
 * @example
 * const target = { command: notifyCommandId('mail -s done me@example.com') };
 */
export function notifyCommandId(command: string): string {
  return `sha256-${createHash('sha256').update(command).digest('hex').slice(0, 32)}`;
}
