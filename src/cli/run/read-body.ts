/** Reads fields of a request that have no option of their own, because the specification leaves them open. */

import type { OtherFields } from '../../contract/workflow-safe/other-fields.js';
import { losesDigits, numbersOf } from '../../texts/json-tokens.js';
import { parseJson } from '../../texts/parse-json.js';
import { UsageError } from '../usage-error.js';
import { readTextOrFile } from './read-prompts.js';

/**
 * @param given a JSON object, or `@` and the name of a file that holds one
 * @throws UsageError
 */
export async function readBody(given: string | undefined, option: string, cwd: string): Promise<OtherFields> {
  if (given === undefined) return {};
  const text = await readTextOrFile(given, option, cwd);
  const body = parseJson(text);
  const changed = body === undefined ? undefined : numbersOf(text).find(losesDigits);
  if (changed !== undefined) {
    throw new UsageError(`${option}: the number ${changed} would lose digits. Write it as a text: "${changed}".`);
  }
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as OtherFields;
  throw new UsageError(`${option} must be a JSON object, like '{"field": "value"}', or @file.`);
}
