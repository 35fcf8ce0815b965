/** The record of a probe: a stack with it plays the service that was probed. */
import { readFile } from 'node:fs/promises';
import type { Config } from '../config.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { formSettings } from './children.js';

/**
 * The file, and what it says of the worker and the bridge. The local service reads its deviations.
 * @param file a whole path
 * @param why said after the problem, beginning with a blank
 * @throws SandflowError `bad_usage`
 */
export async function readAssumed(file: string, why = ''): Promise<NonNullable<Config['assumed']>> {
  const refuse = (problem: string, cause?: unknown) =>
    new SandflowError('bad_usage', `--assume: ${file} ${problem}${why}`, { cause });
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw refuse('cannot be read. Check that it exists and is readable.', cause);
  });
  try {
    const { deviations, settings = {} } = JSON.parse(text);
    const known = formSettings.filter((name) => typeof settings[name] === 'string');
    if (!Array.isArray(deviations) || known.length < Object.keys(settings).length) throw new Error('other fields');
    return { file, settings };
  } catch (cause) {
    throw refuse('is not the record of a probe.', cause);
  }
}
