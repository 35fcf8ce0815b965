/** What a home remembers of its stack, in case the supervisor dies: that `sandflow up` started it, and what is open. */
import { rm } from 'node:fs/promises';
import { z } from 'zod';
import { readJsonFile, writePrivateFile } from '../os/private-file.js';

const stackRecordSchema = z.object({
  /** True after `sandflow up`, until `sandflow down`: the next stack of this home stays up while it is idle, too. */
  kept: z.boolean(),
  /** The record that it plays (`--assume`); the next stack of this home plays it, too. */
  assumed: z.string().optional(),
  /** When the supervisor last looked, in ISO 8601. */
  seenAt: z.string(),
  /** What was open then; null if Temporal did not answer. */
  openJobs: z.number().nullable(),
  activeSchedules: z.number().nullable(),
});
export type StackRecord = z.infer<typeof stackRecordSchema>;

/** @returns undefined if the last stack of the home has ended in order, and nobody keeps it up */
export async function readStackRecord(recordFile: string): Promise<StackRecord | undefined> {
  // A memo must not hold up a command, whatever is in its place.
  const parsed = stackRecordSchema.safeParse(await readJsonFile(recordFile).catch(() => undefined));
  return parsed.success ? parsed.data : undefined;
}

export async function writeStackRecord(recordFile: string, record: StackRecord): Promise<void> {
  await writePrivateFile(recordFile, `${JSON.stringify(record)}\n`);
}

export async function removeStackRecord(recordFile: string): Promise<void> {
  await rm(recordFile, { force: true }).catch(() => undefined);
}

/** One sentence about a stack that has ended without `sandflow down`. */
export function endedText({ kept, seenAt, openJobs, activeSchedules }: StackRecord): string {
  const waiting = [counted(openJobs, 'open workflow'), counted(activeSchedules, 'active schedule')].filter(Boolean);
  const what = kept ? 'The stack of `sandflow up`' : 'The stack';
  const waits = waiting.length === 0 ? '' : ` On hold since then: ${waiting.join(' and ')}.`;
  return `${what} ended without \`sandflow down\` after ${seenAt}.${waits}`;
}

function counted(count: number | null, noun: string): string {
  return count === null || count === 0 ? '' : `${count} ${noun}${count === 1 ? '' : 's'}`;
}
