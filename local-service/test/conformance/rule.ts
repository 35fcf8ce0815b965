/** Tests that name the rules of the specification that they check. */
import { test } from 'vitest';
import { type RuleId, ruleById } from './rules/catalogue.js';
import { remoteTarget } from './target/remote.js';

/**
 * What a test needs that only the local service has:
 * - `clock`: held or moved time, or timings of milliseconds.
 * - `faults`: failures on demand.
 * - `local`: settings, accounts, a webhook receiver on this machine, the scripted agent, which follows the
 *   prompt literally, or anything else that a normal account cannot request.
 */
export type Need = 'clock' | 'faults' | 'local';

declare module 'vitest' {
  interface TaskMeta {
    /** Ids of the rules that the test names; docs/maintainers/coverage.md lists them. */
    rules?: readonly string[];
    needs?: readonly Need[];
  }
}

export interface RuleOptions {
  /** With at least one of these, the test is skipped for a configured service. */
  readonly needs?: readonly Need[];
}

/** Real machines boot and archive in minutes. */
const remoteTimeoutMs = 1_800_000;

/**
 * A test of one or several rules. Its title begins with their ids.
 * @throws Error during collection, for an id that the catalogue lacks or marks as untestable
 */
export function rule(
  ids: RuleId | readonly RuleId[],
  title: string,
  body: () => void | Promise<void>,
  options: RuleOptions = {},
): void {
  const named = typeof ids === 'string' ? [ids] : ids;
  for (const id of named) {
    const record = ruleById(id);
    if (record === undefined) throw new Error(`No rule has the id "${id}". Add it to test/conformance/rules.`);
    if (record.untestable !== undefined)
      throw new Error(`Rule "${id}" is called untestable, yet this is a test of it.`);
  }
  const { needs = [] } = options;
  const remote = remoteTarget() !== undefined;
  const leftOut = remote && needs.length > 0;
  const suffix = leftOut ? ` (left out: needs ${needs.join(', ')})` : '';
  const meta = { rules: named, needs };
  const timeout = remote ? remoteTimeoutMs : undefined;
  test.skipIf(leftOut)(`${named.map((id) => `[${id}]`).join(' ')} ${title}${suffix}`, { meta, timeout }, body);
}
