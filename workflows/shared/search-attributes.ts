/**
 * Writes the search attributes of a workflow that was started with them, and hands them on. They are in the start of the
 * workflow, so a replay decides the same.
 */
import type { SearchAttributeUpdatePair, TypedSearchAttributes } from '@temporalio/common';
import { upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { openAttributes, searchAttributes } from '../../src/protocol/search-attributes.js';

type Shown = { readonly [name in keyof typeof searchAttributes]?: string | null };

const shownNow = (): TypedSearchAttributes | undefined => {
  const { typedSearchAttributes: shown } = workflowInfo();
  return shown.get(searchAttributes.outcome) === undefined ? undefined : shown;
};

/** Writes what differs from what is there, at once, because each write is an event. */
export function showAttributes(now: Shown): void {
  const shown = shownNow();
  const changed = Object.entries(now).flatMap(([name, value]) => {
    const key = searchAttributes[name as keyof Shown];
    return !shown || value === (shown.get(key) ?? null) ? [] : [{ key, value } as SearchAttributeUpdatePair];
  });
  if (changed.length > 0) upsertSearchAttributes(changed);
}

/** For the next run, which writes a block that lasts again. */
export const carriedAttributes = () => ({
  typedSearchAttributes: shownNow()?.updateCopy([{ key: searchAttributes.blocked, value: null }]),
});

/** For a part of the batch. A chunk has no outcome of its own. */
export function partAttributes(part: 'chunk' | 'item') {
  const batch = workflowInfo().typedSearchAttributes.get(searchAttributes.batch);
  const all = batch === undefined ? undefined : openAttributes(batch);
  return { typedSearchAttributes: all?.slice(0, part === 'chunk' ? 1 : 2) };
}
