/**
 * Decides whether summaries of activities show the first line of prompts and commands. Temporal stores summaries
 * separately from the inputs of activities, and only some SDK versions encrypt them.
 */
import { workflowInfo } from '@temporalio/workflow';
import type { TextInSummariesMemo } from '../../src/protocol/memos.js';

/** For the memo of a child, which follows its parent. */
export function textInSummariesMemo(): TextInSummariesMemo {
  return showsTexts() ? {} : { textInSummaries: false };
}

/** @param instead what the summary shows if it may not show the text */
export function summaryOf(text: string, instead: string): string {
  return showsTexts() ? text : instead;
}

function showsTexts(): boolean {
  const memo: TextInSummariesMemo = workflowInfo().memo ?? {};
  return memo.textInSummaries !== false;
}
