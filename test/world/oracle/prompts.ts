/** Promises about prompts: none twice, none of somebody else's adopted or interrupted, and results that are true. */
import { isFinalPromptStatus } from '../../../src/contract/workflow-safe/states.js';
import type { JobResult } from '../../../workflows/index.js';
import { type Broken, hasStruck, madeBy, planOf, troublesOf, type WorldRecord } from './record.js';

export function brokenPrompts(record: WorldRecord): Broken[] {
  return [...promptedTwice(record), ...cutOthers(record), ...record.told.flatMap((told) => untrue(record, told))];
}

/** Prompts of the job's sandboxes that nobody else sent. */
export function promptsOf(record: WorldRecord, told: WorldRecord['told'][number]) {
  const ids = new Set([...madeBy(record, told).map(({ id }) => id), ...told.given]);
  const isOthers = (id: string) => record.traces.promptIds.has(id) || told.othersPromptIds.includes(id);
  return record.books.prompts.filter(({ id, sandboxId }) => ids.has(sandboxId) && !isOthers(id));
}

function promptedTwice(record: WorldRecord): Broken[] {
  return record.told.flatMap((told) => {
    const plan = planOf(record, told.job);
    const counts = new Map<string, number>();
    for (const { text } of promptsOf(record, told)) counts.set(text, (counts.get(text) ?? 0) + 1);
    // The user asked to run an item again if it ends otherwise than completed, even if only its answer was lost.
    // If it was a machine or the service, three more tries cost none of those.
    const perRun = plan?.kind === 'batch' && plan.retries > 0 ? 1 + plan.retries + 3 : 1;
    const most = perRun * (told.ends?.length ?? 1);
    return [...counts].flatMap(([text, count]) =>
      count > Math.max(most, equalsOf(record, text))
        ? [{ promise: 'no prompt twice', job: told.job, what: `accepted ${count} times: ${text}` }]
        : [],
    );
  });
}

/** How many equal prompts with this text its job has. A newcomer may share the sandbox of that job. */
function equalsOf({ plan }: WorldRecord, text: string): number {
  const of = plan.jobs.find((job) => job.kind === 'run' && job.equalPrompts && text.includes(` ${job.key}.count`));
  return of?.kind === 'run' ? of.prompts : 1;
}

function cutOthers(record: WorldRecord): Broken[] {
  // With the service, the agents die that it ran.
  if (hasStruck(record, (one) => one.kind === 'death' && one.part === 'service')) return [];
  return record.told.flatMap(({ job, given, othersPromptIds }) =>
    record.books.prompts
      .filter(
        ({ id, sandboxId }) =>
          othersPromptIds.includes(id) && !given.some((one) => record.traces.taken.has(one) && one === sandboxId),
      )
      .filter(({ status, sandboxId }) => {
        const sandbox = record.books.sandboxes.find(({ id }) => id === sandboxId);
        // An auto-stop that has passed ends prompts too.
        return (status === 'interrupted' || status === 'failed') && sandbox?.state !== 'archived';
      })
      .map(({ id, status }) => ({
        promise: "nothing of somebody else's is touched",
        job,
        what: `the prompt ${id} of somebody else is ${status}`,
      })),
  );
}

/** The result of each prompt, field by field, against the records of the service. */
function untrue(record: WorldRecord, told: WorldRecord['told'][number]): Broken[] {
  const own = promptsOf(record, told);
  const broken = (what: string): Broken => ({ promise: 'the result says what is', job: told.job, what });
  const plan = planOf(record, told.job);
  const hasEqual = plan?.kind === 'run' && plan.equalPrompts;
  return told.jobs.flatMap((job: JobResult) =>
    job.prompts.flatMap((said, at): Broken[] => {
      const ofText = own.filter(({ text, sandboxId }) => text === said.prompt && sandboxId === job.sandboxId);
      const says = `says prompt ${at} ${said.status}`;
      const isAnothers = said.promptId !== null && !own.some(({ id }) => id === said.promptId);
      // In its own sandbox a job takes an equal prompt that follows its lost one for its own: nothing tells them apart.
      // The answer to a prompt names no sandbox. After one with other ids the job waits for a prompt that it cannot find.
      if (isAnothers && said.status !== 'completed' && wasAnsweredWithOtherIds(record, told.job)) return [];
      if (isAnothers && (told.given.length > 0 || !wasPromptedByOthers(record, told.job)))
        return [broken(`took somebody else's prompt ${said.promptId}`)];
      const taken = isAnothers ? record.books.prompts.find(({ id }) => id === said.promptId) : undefined;
      // Equal prompts follow one another. A follow-up after them has a text of its own.
      const nth = job.prompts.slice(0, at).filter(({ prompt }) => prompt === said.prompt).length;
      const real = taken ?? (hasEqual ? ofText[nth] : ofText.at(-1));
      if (said.promptId !== null && real && real.id !== said.promptId) {
        return [broken(`${says} as ${said.promptId}, is ${real.id}`)];
      }
      if (said.status === 'not_sent' && real) return [broken(`${says}, is ${real.status}`)];
      if (said.status === 'interrupted' && real && (!isFinalPromptStatus(real.status) || real.status === 'completed')) {
        return [broken(`${says}, is ${real.status}`)];
      }
      if (said.status === 'completed') {
        if (real?.status !== 'completed') return [broken(`${says}, is ${real?.status ?? 'not there'}`)];
        // A note says that the answer could not be read.
        const isUnread = said.result === null && said.note !== undefined;
        if (said.resultRef === null && said.result !== real.result && !isUnread) {
          return [broken(`${says} with another answer`)];
        }
      }
      if (said.status === 'failed' && real?.status === 'completed') return [broken(`${says}, is completed`)];
      if (job.outcome === 'completed' && said.status !== 'completed') {
        return [broken(`says completed with prompt ${at} ${said.status}`)];
      }
      return [];
    }),
  );
}

const wasPromptedByOthers = (record: WorldRecord, job: string) =>
  troublesOf(record, job).some((one) => one.kind === 'act' && one.act === 'prompt');

/** Faults of an answer whose ids are of another prompt, or of none. */
const otherIds: ReadonlySet<string> = new Set(['misrouted', 'foreign-ids', 'malformed-ids']);

const wasAnsweredWithOtherIds = (record: WorldRecord, job: string) =>
  troublesOf(record, job).some(
    (one) => one.kind === 'wire' && otherIds.has(one.fault) && one.at.endpoint === 'sendPrompt',
  );
