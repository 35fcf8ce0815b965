/** The labels of jobs and batches. They are in the memo, so they cost no history event. */
import { z } from 'zod';
import { checkInput, problemLine } from '../settings/input-problems.js';
import { parseWith } from './parse-with.js';

/** Labels by name. */
export type Labels = Readonly<Record<string, string>>;

const labelsSchema = z
  .record(z.string().min(1).max(100), z.string().max(200))
  .refine((labels) => Object.keys(labels).length <= 20, 'must have at most 20 entries');

/** Checks labels. Returns undefined if there are none. @param refuse creates the error that is thrown */
export function parseLabels(labels: unknown, refuse: (why: string) => Error): Labels | undefined {
  if (labels === undefined) return undefined;
  const checked = parseWith(z.object({ labels: labelsSchema }), { labels }, refuse).labels;
  return Object.keys(checked).length > 0 ? checked : undefined;
}

/** What is wrong with labels, in words for people; undefined if nothing is. */
export function labelsProblem(labels: unknown): string | undefined {
  return checkInput(labelsSchema, labels).problems?.map(problemLine).join('; ');
}

/** The readable labels of a memo. */
export function labelsIn(value: unknown): Labels {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
