/**
 * The time zone of this machine. TZ may hold more than a name: ICU knows none for `:/etc/localtime`, and takes
 * `CET-1CEST` for UTC, so a schedule ran two hours late.
 */
import { readFileSync, realpathSync } from 'node:fs';
import { isTimeZone } from '../texts/time-zone.js';

/** Where the system keeps its zone: a link into its data, or a copy of them. Debian also writes the name. */
const localTime = '/etc/localtime';
const nameFile = '/etc/timezone';

/**
 * @param setting what TZ holds; undefined if it is not set
 * @returns the IANA name; undefined if there is none
 */
export function zoneOfMachine(setting: string | undefined): string | undefined {
  const text = setting?.replace(/^:/, '');
  const names =
    text === undefined ? [nameOfFile(localTime), nameOfProcess()] : [text.startsWith('/') ? nameOfFile(text) : text];
  return names
    .map((name) => name?.replace(/^(?:posix|right)\//, ''))
    .find((name) => name !== undefined && isTimeZone(name));
}

function nameOfFile(path: string): string | undefined {
  try {
    const [, name] = /\/zoneinfo\/(.+)$/.exec(realpathSync(path)) ?? [];
    return name ?? (path === localTime ? readFileSync(nameFile, 'utf8').trim() : undefined);
  } catch {
    return undefined;
  }
}

/** ICU also compares the content of a copy with its own data. */
function nameOfProcess(): string | undefined {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}
