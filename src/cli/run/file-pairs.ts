/** Reads `--put local:remote` and `--get remote[:local]`. */
import { posix } from 'node:path';
import { UsageError } from '../usage-error.js';

export interface PutPair {
  readonly local: string;
  readonly remote: string;
}

export interface GetPair {
  readonly remote: string;
  readonly local: string;
}

/** The last colon divides, so that a name on this machine may hold one. */
export function parsePutPair(text: string): PutPair {
  const colon = text.lastIndexOf(':');
  const local = text.slice(0, colon);
  const remote = text.slice(colon + 1);
  if (colon < 0 || local === '' || remote === '') {
    throw new UsageError(`--put: "${text}" is not LOCAL:REMOTE, like report.csv:data/report.csv.`);
  }
  return { local, remote };
}

/** Without a local path the file is written under its own name into the current folder. */
export function parseGetPair(text: string): GetPair {
  const colon = text.lastIndexOf(':');
  const remote = colon < 0 ? text : text.slice(0, colon);
  const given = colon < 0 ? '' : text.slice(colon + 1);
  const name = posix.basename(remote);
  if (remote === '' || (colon >= 0 && given === '') || name === '' || name === '.' || name === '..') {
    throw new UsageError(
      `--get: "${text}" is not REMOTE or REMOTE:LOCAL, like out/report.csv or out/report.csv:report.csv.`,
    );
  }
  if (given === '') return { remote, local: name };
  return { remote, local: given.endsWith('/') ? `${given}${name}` : given };
}

/** Reads all of `--get`; two files for one place would lose one of them. */
export function parseGetPairs(texts: readonly string[]): GetPair[] {
  const pairs = texts.map(parseGetPair);
  const taken = new Map<string, string>();
  for (const { remote, local } of pairs) {
    const key = posix.normalize(local);
    const other = taken.get(key);
    if (other !== undefined) {
      throw new UsageError(`--get: ${other} and ${remote} would both be written to ${local}. Name a place for each.`);
    }
    taken.set(key, remote);
  }
  return pairs;
}
