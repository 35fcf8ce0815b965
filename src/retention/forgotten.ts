/** Which folders of the result store are surely those of workflows of this deployment, and whether they may go. Pure. */
import { jobIdProblem } from '../addresses/addresses.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { durationText } from '../texts/duration.js';

/** The objects of a job or of a batch. */
export interface ResultFolder {
  /** Begins all its keys, and ends with a slash. */
  readonly folder: string;
  readonly workflowId: string;
  readonly objects: number;
  readonly bytes: number;
  /** When its newest object was written, in ms since the epoch. Infinite if a key is not one that workflows give. */
  readonly newestMs: number;
}

const form = /^((?:fanout\/)?(sf-[a-z0-9]+-([^/]+))\/)((?:(?:i[0-9a-z]{1,5}|prep)\/)?[0-9a-f-]{36}\/.)?/;

/** Joins the objects of each folder, which follow one another. */
export async function* foldersOf(
  objects: AsyncIterable<{ readonly key: string; readonly size: number; readonly writtenMs: number }>,
  deployment: string,
): AsyncGenerator<ResultFolder> {
  let open: ResultFolder | undefined;
  for await (const { key, size, writtenMs } of objects) {
    const [, folder, workflowId = '', jobId = '', rest] = form.exec(key) ?? [];
    if (folder === undefined) continue;
    if (open && open.folder !== folder) yield open;
    const before = open?.folder === folder ? open : { objects: 0, bytes: 0, newestMs: 0 };
    const isOwn = rest !== undefined && jobIdProblem(deployment, jobId) === undefined;
    const newestMs = Math.max(before.newestMs, isOwn ? writtenMs : Number.POSITIVE_INFINITY);
    open = { folder, workflowId, objects: before.objects + 1, bytes: before.bytes + size, newestMs };
  }
  if (open) yield open;
}

const dayMs = 86_400_000;

/** @returns from which age folders may go, in ms @throws SandflowError `refused` if Temporal's answers prove nothing */
export function requireProof(
  asked: { readonly id: string; readonly retentionMs: number },
  marks: readonly string[],
  olderThanMs: number | undefined,
): number {
  const other = marks.find((mark) => !mark.endsWith(`/${asked.id}`));
  if (other !== undefined)
    throw refused(`another Temporal namespace has jobs in this store. If it is gone, remove the object ${other}`);
  if (marks.length === 0)
    throw refused('no worker of this Temporal namespace has used this store. Check both, and start `sandflow worker`');
  const ageMs = olderThanMs ?? Math.max(30 * dayMs, asked.retentionMs + dayMs);
  if (ageMs >= asked.retentionMs + dayMs) return ageMs;
  const kept = Number.isNaN(asked.retentionMs) ? 'an unknown time' : durationText(asked.retentionMs);
  throw refused(`Temporal keeps closed workflows for ${kept}. Choose an age that is at least a day longer`);
}

/** Somebody may have deleted a workflow by hand. */
const shareKnown = 0.8;

/** @throws SandflowError `refused` if this is perhaps not the Temporal that ran the newest jobs */
export function requireKnown(asked: number, known: number): void {
  if (asked === 0) throw refused('no job is so young that Temporal must know it, which would prove it. Run one first');
  const most = `Temporal knows only ${known} of the ${asked} newest jobs`;
  if (known < asked * shareKnown) throw refused(`${most}: it may be another one, or a copy gave old objects new times`);
}

export const refused = (why: string) => new SandflowError('refused', `No results were removed: ${why}.`);
