/** The kinds of work that every variation does, and what each says of its end. */
import { setTimeout as sleep } from 'node:timers/promises';
import { cleanupId, jobWorkflowId, sandboxStopId } from '../../../src/addresses/addresses.js';
import type { JobError, JobInput, JobResult } from '../../../workflows/index.js';
import { begin, cleaned } from '../../workflows/cleanup/cleanup-harness.js';
import { ended, fanoutInput, items, lines, submit } from '../../workflows/fanout/fanout-harness.js';
import { ask, outcomeOf } from '../../workflows/stop/stop-harness.js';
import { deployment, type Stand, script, shortTiming } from '../../workflows/workflow-harness.js';
import { sayingOf } from '../matrix/scenarios/job-scenario.js';
import type { Ended } from '../matrix/scenarios/scenario.js';

/** Where the work is done. */
export interface Site {
  readonly stand: Stand;
  /** Makes a sandbox as somebody else would. */
  make(state: 'ready' | 'archived'): Promise<string>;
  /** How long lists of the service omit a new sandbox, in ms. */
  readonly listLagMs: number;
}

export interface Begun {
  /** Workflows whose ids begin so did the work. */
  readonly workflowId: string;
  /** Sandboxes that there were before. */
  readonly given: readonly string[];
  end(): Promise<Done>;
}

export interface Done {
  /** `completed`, `completed, noted` if a part is lacking and the result says so, or the outcome and the code of its error. */
  readonly verdict: string;
  readonly ended: Omit<Ended, 'outcome'>;
  /** Promises that only the kind can check, as sentences. */
  readonly broken: readonly string[];
}

export interface Kind {
  /** Its most sandboxes; one more for the source of a batch. */
  readonly makes: number;
  /** True if it is alone in the account: it acts on all sandboxes. */
  readonly alone?: boolean;
  begin(site: Site, id: string): Promise<Begun>;
}

/** The deadline of all work, in ms: whatever ends only by it is a failure. */
export const deadlineMs = 110_000;
const timing = { ...shortTiming, readLagMs: 8_000, cleanUpMs: 20_000, commandSilenceMs: 15_000 };
const nothing = { jobs: [], left: [], saysArchived: [], saysDeleted: [] };
const failed = (outcome: string, error: JobError | null) => `${outcome}: ${error?.code ?? 'no code'}`;

function jobKind(input: (id: string) => Partial<JobInput>, answers: (id: string) => readonly string[]): Kind {
  return {
    makes: 1,
    async begin({ stand }, id) {
      const handle = await stand.start({
        ...{ source: { kind: 'create', body: {} }, end: 'stop' },
        ...input(id),
        ...{ jobId: id, deadlineMs, timing },
      });
      return {
        workflowId: jobWorkflowId(deployment, id),
        given: [],
        async end() {
          const result = await handle.result();
          return { ended: sayingOf(result), ...(await judged(stand, result, answers(id))) };
        },
      };
    },
  };
}

/** A job has the answers and files that it was to have, or its result names what is lacking. */
async function judged(stand: Stand, job: JobResult, answers: readonly string[]): Promise<Omit<Done, 'ended'>> {
  const { outcome, error, prompts, files, stop, deletion } = job;
  if (outcome !== 'completed') return { verdict: failed(outcome, error), broken: [] };
  const contents = await Promise.all(files.map(({ ref }) => (ref === null ? null : stand.results.get(ref))));
  const broken = [
    ...prompts.flatMap(({ result, note }, at) =>
      result?.trim() === answers[at] || (result === null && note) ? [] : [`answer ${at} is ${result}, without a word`],
    ),
    ...files.flatMap(({ path, error: why }, at) =>
      contents[at]?.toString() === 'put\n' || why ? [] : [`${path} is ${contents[at]}, without a word`],
    ),
  ];
  const isEnded = (stop ?? deletion)?.status === 'completed' || deletion?.status === 'gone';
  const lacks = [
    ...prompts.flatMap(({ note }) => (note ? ['noted'] : [])),
    ...files.flatMap(({ error: why }) => (why ? ['no file'] : [])),
    ...(isEnded ? [] : [`${stop ? 'stop' : 'deletion'} ${(stop ?? deletion)?.status ?? 'refused'}`]),
  ];
  return { verdict: ['completed', ...new Set(lacks)].join(', '), broken };
}

const prompt = (text: string) => ({ prompt: script(`echo ${text}`), model: 'sonnet' });

const batch: Kind = {
  makes: 3,
  async begin({ stand }, id) {
    const input = fanoutInput(
      {
        kind: 'prepare',
        body: {},
        ...{ put: [], commands: ['true'], prompts: [prompt(`${id} source`)], deadlineMs, end: 'delete' },
      },
      {
        batchId: id,
        timing,
        policy: { itemDeadlineMs: deadlineMs, deadlineMs, end: 'delete' },
      },
    );
    await submit(
      stand,
      input,
      items(3, (at) => `echo ${id} ${at}`),
    );
    return {
      workflowId: jobWorkflowId(deployment, id),
      given: [],
      async end() {
        const result = await ended(stand, input);
        const of = result.resultsRef === null ? [] : await lines(stand, result);
        const jobs = of.flatMap(({ job, index }) => (job === null ? [] : [{ job, index }]));
        const each = await Promise.all(jobs.map(({ job, index }) => judged(stand, job, [`${id} ${index}`])));
        const said = jobs.map(({ job }) => sayingOf(job));
        const verdicts = [...new Set(each.map(({ verdict }) => verdict))].join(' and ');
        const isWhole = result.outcome === 'completed' && jobs.length === 3;
        return {
          verdict: isWhole
            ? verdicts
            : result.error
              ? failed(result.outcome, result.error)
              : `${result.outcome}: ${verdicts}`,
          ended: {
            jobs: said.flatMap((one) => one.jobs),
            left: [...result.left.flatMap(namesOf), ...said.flatMap(({ left }) => left)],
            saysArchived: said.flatMap(({ saysArchived }) => saysArchived),
            saysDeleted: said.flatMap(({ saysDeleted }) => saysDeleted),
          },
          broken: each.flatMap((one) => one.broken),
        };
      },
    };
  },
};

const namesOf = ({
  sandboxId,
  sandboxName,
}: {
  readonly sandboxId: string | null;
  readonly sandboxName: string | null;
}) => [sandboxId, sandboxName].filter((name) => name !== null);

const stop: Kind = {
  makes: 0,
  async begin(site) {
    const { stand } = site;
    const sandboxId = await site.make('ready');
    const requested = await ask(stand, { sandboxId, deadlineMs, timing });
    return {
      workflowId: sandboxStopId(sandboxId),
      given: [sandboxId],
      async end() {
        const { outcome, error } = await outcomeOf(stand, requested);
        const isArchived = outcome === 'archived' || outcome === 'already_archived';
        return {
          verdict: isArchived ? 'completed' : failed(String(outcome), error),
          ended: { ...nothing, left: isArchived ? [] : [sandboxId], saysArchived: isArchived ? [sandboxId] : [] },
          broken: [],
        };
      },
    };
  },
};

/** By state, because a service may keep no names. */
const policy = (id: string) => `name: ${id}
limits: {maxActions: 1000, maxPercent: 100}
rules:
  - {rule: usable, match: {state: [ready, idle]}, action: stop}
  - {rule: archived, match: {state: [archived]}, action: delete-sandbox}`;

/** Five sandboxes: the account has two pages of two, and one of one. */
const cleanup: Kind = {
  makes: 0,
  alone: true,
  async begin(site, id) {
    const { stand } = site;
    const states = ['ready', 'archived', 'ready', 'ready', 'archived'] as const;
    const given = await Promise.all(states.map((state) => site.make(state)));
    await sleep(site.listLagMs);
    const handle = await begin(stand, policy(id), { actionDeadlineMs: deadlineMs, planDeadlineMs: deadlineMs, timing });
    return {
      workflowId: cleanupId(deployment, id),
      given,
      async end() {
        const summary = await handle.result();
        if (summary.outcome !== 'applied')
          return { verdict: failed(summary.outcome, summary.error), ended: nothing, broken: [] };
        const { of, report } = await cleaned(stand, summary);
        const ends = given.map((sandboxId) => ({ sandboxId, end: of(sandboxId) }));
        const done = (was: 'ready' | 'archived') =>
          given.filter((id, at) => states[at] === was && /^(stopped|deleted|gone)$/.test(of(id)));
        const others = ends.filter(({ end }) => end !== 'stopped' && end !== 'deleted' && end !== 'gone');
        const whys = report.plan?.entries.flatMap(({ results }) => results.flatMap(({ why }) => why ?? [])) ?? [];
        return {
          verdict:
            others.length === 0 ? 'completed' : `applied: ${[...new Set(others.map(({ end }) => end))].join(' and ')}`,
          ended: {
            ...nothing,
            saysArchived: done('ready'),
            saysDeleted: done('archived'),
            left: others.map(({ sandboxId }) => sandboxId),
          },
          broken: others
            .flatMap(({ sandboxId, end }) =>
              end === 'not in the plan' && (summary.planned?.unreadable ?? 0) === 0
                ? [`${sandboxId} is in no plan, without a word`]
                : [],
            )
            .concat(others.length > 0 && whys.length === 0 ? [`no reason: ${others.map(({ end }) => end)}`] : []),
        };
      },
    };
  },
};

const one = (id: string) => [`${id} one`];
const two = (id: string) => [`${id} one`, `${id} two`];
const file = { path: 'in.txt', content: { base64: Buffer.from('put\n').toString('base64') } };

export const kinds = {
  cleanup,
  one: jobKind((id) => ({ prompts: one(id).map(prompt) }), one),
  two: jobKind((id) => ({ prompts: two(id).map(prompt) }), two),
  batch,
  stop,
  delete: jobKind((id) => ({ prompts: one(id).map(prompt), end: 'delete' }), one),
  files: jobKind(
    (id) => ({
      put: [file],
      prompts: [{ prompt: script(`cat in.txt > out.txt; echo ${id} one`) }],
      collect: ['out.txt'],
    }),
    one,
  ),
} as const satisfies Readonly<Record<string, Kind>>;
export type KindName = keyof typeof kinds;

/** Waits until `read` answers something. */
export async function until<T>(read: () => T | undefined): Promise<T> {
  for (;;) {
    const value = read();
    if (value !== undefined) return value;
    await sleep(50);
  }
}
