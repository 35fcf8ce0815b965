/**
 * Writes the start of a workflow into its memo, so that lists can show it. Temporal knows only the start of the newest
 * run.
 */
import {
  type ContinueAsNewOptions,
  makeContinueAsNewFunc,
  upsertMemo,
  type Workflow,
  workflowInfo,
} from '@temporalio/workflow';
import type { StartMemo } from '../../src/protocol/memos.js';
import { carriedAttributes } from './search-attributes.js';

/** Continues as new, with the search attributes, and with the start of the first run in the memo. Never returns. */
export function continueWithStart<W extends Workflow>(
  startedAt: string,
  input: Parameters<W>[0],
  version: Pick<ContinueAsNewOptions, 'initialVersioningBehavior'> = {},
): Promise<never> {
  const start: StartMemo = { startedAt };
  const memo = { ...workflowInfo().memo, ...start };
  return makeContinueAsNewFunc<Workflow>({ memo, ...carriedAttributes(), ...version })(input);
}

/** Records the start of the first run in the memo of a run that was reset: Temporal gives it a later start. */
export function rememberStart(startedAt: string): void {
  const start: StartMemo = { startedAt };
  upsertMemo({ ...start });
}
