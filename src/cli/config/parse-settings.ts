/** Parses a file of settings. For each problem, names the file and the line. Never quotes a secret. */
import type { z } from 'zod';
import { checkInput, fieldText } from '../../contract/texts/input-problems.js';
import { withoutMark } from '../../contract/texts/parse-json.js';
import { badConfiguration } from '../usage-error.js';
import { connectionNames, userOnly } from './settings-schema.js';

/** Matches `apiKey`, `TEMPORAL_API_KEY`, `webhookSecret`, but not settings that name a file with a secret. */
const secretName = /(?:^key|api[-_]?key|secrets?|tokens?|passwords?|credentials?)$/i;

/**
 * Deeper than any setting. Deeper values are refused as unknown fields, because they could be too deep for a search.
 */
const maxDepth = 10;

export interface SettingsFile {
  readonly path: string;
  readonly kind: 'project' | 'user';
  /** Path of the user's file, for messages. */
  readonly userFile: string;
}

/** @throws SandflowError `bad_configuration` */
export function parseSettings<Output>(written: string, file: SettingsFile, schema: z.ZodType<Output>): Output {
  const text = withoutMark(written);
  const refuse = (at: readonly PropertyKey[], why: string) => {
    const line = lineOf(text, at);
    const field = at.length === 0 ? '' : `${fieldText(at)}: `;
    return badConfiguration(`${file.path}${line === undefined ? '' : `:${line}`}: ${field}${why}.`);
  };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The message of the parser would quote the file.
    throw refuse([], 'this is not JSON');
  }
  const secret = secretIn(value);
  if (secret) {
    const where = `Put the key into a file of mode 600, and name it by SANDBOX_API_KEY_FILE or by "apiKeyFile" of a profile in ${file.userFile}`;
    throw refuse(secret, `this file must not contain a secret. ${where}`);
  }
  const checked = checkInput(schema, value);
  const [problem] = checked.problems ?? [];
  if (checked.problems === null || !problem) return checked.data as Output;
  const name = String(problem.path.at(-1));
  if (file.kind === 'project' && problem.unknownField && connectionNames.has(name)) {
    throw refuse(problem.path, `a project may not choose a connection. Set it in a profile in ${file.userFile}`);
  }
  if (file.kind === 'project' && userOnly.has(name) && problem.unknownField) {
    throw refuse(problem.path, `a project may not set this. Set it in a profile in ${file.userFile}, or by its option`);
  }
  throw refuse(problem.path, problem.message);
}

function secretIn(value: unknown, at: readonly string[] = []): readonly string[] | undefined {
  if (typeof value !== 'object' || value === null || at.length === maxDepth) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const here = [...at, name];
    if (secretName.test(name)) return here;
    const found = name === 'labels' ? undefined : secretIn(inner, here);
    if (found) return found;
  }
  return undefined;
}

/** The line of the innermost name of the path, from 1. Undefined if the file has no such name. */
function lineOf(text: string, path: readonly PropertyKey[]): number | undefined {
  let at = -1;
  for (const step of path) {
    if (typeof step === 'number') break;
    const next = text.indexOf(`${JSON.stringify(String(step))}`, at + 1);
    if (next < 0) break;
    at = next;
  }
  return at < 0 ? undefined : text.slice(0, at).split('\n').length;
}
