/** Random fleets, policies and plans for property tests. */
import fc from 'fast-check';
import { executionOf, jobWorkflowId, ownedSandboxName } from '../../../src/addresses/addresses.js';
import type { SandboxFacts, SnapshotFacts } from '../../../src/protocol/cleanup-plan.js';
import type { CleanupPolicy, Rule } from '../../../src/protocol/cleanup-policy.js';
import { type OwnerSeen, ownershipOf } from '../../../src/retention/ownership.js';

export const deployment = 'mine';
export const nowMs = Date.parse('2026-06-15T02:00:00Z');
const dayMs = 86_400_000;

/** The state of a sandbox at the service and at Temporal. */
export interface Truth {
  readonly facts: SandboxFacts;
  /** Temporal's answer about the workflow in the name. */
  readonly seen: OwnerSeen | undefined;
  readonly leasedBy: readonly string[];
  readonly snapshots: readonly SnapshotFacts[];
}
export type World = ReadonlyMap<string, Truth>;

const jobs = ['a', 'b', 'c'];
const runIdOf = (job: string) => `0197-7000-8000-${Buffer.from(job.padStart(6, '0')).toString('hex')}`;
const otherRunId = '0197-7000-8000-ffffffffffff';

const owned = (of: string, job: string, runId: string) =>
  ownedSandboxName({ deployment: of, jobId: job, execution: executionOf(runId), step: 'main', generation: 1 });

const name = fc.oneof(
  fc.constantFrom('ci-1', 'ci-2', 'build-1', 'golden-1', 'golden-ci', 'mine'),
  fc.constantFrom(...jobs).map((job) => owned(deployment, job, runIdOf(job))),
  fc.constantFrom(...jobs).map((job) => owned('theirs', job, runIdOf(job))),
);

const at = fc.integer({ min: 0, max: 30 }).map((days) => new Date(nowMs - days * dayMs).toISOString());
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });

const facts = (id: string): fc.Arbitrary<SandboxFacts> =>
  fc.record({
    id: fc.constant(id),
    name,
    state: fc.constantFrom('provisioning', 'ready', 'idle', 'running', 'archiving', 'archived', 'error', 'cancelled'),
    access: fc.constantFrom(null, 'owner', 'owner', 'use', 'view'),
    createdAt: maybe(at),
    updatedAt: maybe(at),
    archiveAfter: fc.constant(null),
    environment: fc.constantFrom(null, 'web', 'api'),
    createdBy: fc.constantFrom(null, 'ann', 'bob'),
    createdById: fc.constant(null),
    dollars: maybe(fc.integer({ min: 0, max: 50 })),
    stopId: fc.constantFrom(null, 'stop_1', 'stop_2'),
    stopStatus: fc.constantFrom(null, 'completed'),
    stopFailingSince: maybe(at),
    stopFailedForMs: maybe(fc.nat({ max: 10 ** 9 })),
    stoppedAt: maybe(at),
    dataExpiredAt: maybe(at),
    idleSince: maybe(at),
    saved: fc.constantFrom('saved' as const, 'stale' as const, 'none' as const, 'expired' as const, 'unknown' as const),
    savedAt: maybe(at),
  });

/** The execution of the job is running, ended or unknown; or only another execution of the id is known. */
const seenOf = (job: string): fc.Arbitrary<OwnerSeen | undefined> =>
  fc.constantFrom<OwnerSeen | undefined>(
    undefined,
    { isOpen: true, closedFirstRunIds: [] },
    { isOpen: false, closedFirstRunIds: [runIdOf(job)] },
    { isOpen: false, closedFirstRunIds: [otherRunId] },
  );

const snapshotsOf = (id: string): fc.Arbitrary<SnapshotFacts[]> =>
  fc
    .array(fc.record({ name: fc.constantFrom(null, null, 'base', 'tmp-1'), createdAt: maybe(at) }), { maxLength: 4 })
    .map((list) => list.map((snapshot, index) => ({ ...snapshot, id: `snap_${id}_${index}` })));

const oneTruth = (id: string) =>
  fc.record({
    facts: facts(id),
    leasedBy: fc.constantFrom<string[]>([], [], [], ['sf-mine-borrower']),
    snapshots: snapshotsOf(id),
  });

export const fleet: fc.Arbitrary<World> = fc
  .record({
    sandboxes: fc
      .integer({ min: 0, max: 12 })
      .chain((size) => fc.tuple(...Array.from({ length: size }, (_, index) => oneTruth(`bx_${index}`)))),
    seen: fc.record(Object.fromEntries(jobs.map((job) => [job, seenOf(job)]))),
  })
  .map(({ sandboxes, seen }) => {
    const truths = sandboxes.map((truth): Truth => ({ ...truth, seen: seen[jobOf(truth.facts.name)] }));
    return new Map(truths.map((truth) => [truth.facts.id, truth]));
  });

const jobOf = (sandboxName: string | null): string =>
  jobs.find((job) => sandboxName?.startsWith(`${jobWorkflowId(deployment, job)}-`)) ?? '';

/** Changes of one world between plan and apply: any part may be replaced or disappear. */
export const changes: fc.Arbitrary<(world: World) => World> = fc
  .array(fc.tuple(fc.nat({ max: 11 }), fc.option(oneTruth('bx_x'), { nil: null }), fc.nat({ max: 7 })), {
    maxLength: 8,
  })
  .chain((list) =>
    fc.record({ list: fc.constant(list), seen: fc.record(Object.fromEntries(jobs.map((j) => [j, seenOf(j)]))) }),
  )
  .map(({ list, seen }) => (world) => {
    const next = new Map(world);
    for (const [index, drawn, what] of list) {
      const id = `bx_${index}`;
      const before = next.get(id);
      if (!before) continue;
      if (drawn === null) next.delete(id);
      else next.set(id, changed(before, drawn, { what, seen: seen[jobOf(before.facts.name)] }));
    }
    return next;
  });

type Drawn = Pick<Truth, 'facts' | 'leasedBy' | 'snapshots'>;

/** One aspect of a sandbox has changed. */
function changed(
  before: Truth,
  drawn: Drawn,
  { what, seen }: { readonly what: number; readonly seen: Truth['seen'] },
): Truth {
  const { facts: old } = before;
  switch (what) {
    case 0:
      return { ...before, facts: { ...old, state: drawn.facts.state } };
    case 1:
      return { ...before, facts: { ...old, name: drawn.facts.name } };
    case 2:
      return { ...before, leasedBy: ['sf-mine-borrower'] };
    case 3:
      return { ...before, seen };
    case 4:
      return { ...before, facts: { ...old, updatedAt: drawn.facts.updatedAt, idleSince: drawn.facts.idleSince } };
    case 5:
      return { ...before, facts: { ...old, access: drawn.facts.access } };
    case 6:
      return { ...before, snapshots: before.snapshots.map((snapshot) => ({ ...snapshot, name: 'base' })) };
    default:
      return { ...before, facts: { ...drawn.facts, id: old.id } };
  }
}

const rule = (title: string): fc.Arbitrary<Rule> =>
  fc.record({
    rule: fc.constant(title),
    action: fc.constantFrom(
      'stop' as const,
      'delete-sandbox' as const,
      'delete-sandbox' as const,
      'delete-snapshot' as const,
      'keep' as const,
    ),
    keepLast: fc.constantFrom(0, 0, 1, 2),
    keepLastPer: fc.constantFrom('rule' as const, 'name' as const, 'environment' as const, 'creator' as const),
    keepSnapshots: fc.constantFrom(1, 2),
    snapshotNames: fc.constantFrom([], ['tmp-*']),
    snapshotsOlderThanMs: fc.constantFrom(null, null, 5 * dayMs),
    match: fc.record({
      names: fc.constantFrom(null, null, ['ci-*'], ['golden-*', 'sf-*'], ['*']),
      states: fc.constantFrom(null, ['archived'], ['ready', 'idle', 'running']),
      olderThanMs: fc.constantFrom(null, null, 7 * dayMs),
      idleForMs: fc.constantFrom(null, null, 3 * dayMs),
      environments: fc.constantFrom(null, null, ['w*'], [null]),
      creators: fc.constantFrom(null, null, null, ['ann']),
      costAboveDollars: fc.constantFrom(null, null, null, 10),
      stopFailingForMs: fc.constantFrom(null, null, 3 * dayMs),
      dataExpired: fc.constantFrom(null, null, true, false),
      owned: fc.constantFrom(null, null, ['closed' as const], ['none' as const, 'closed' as const]),
    }),
  });

export const policy: fc.Arbitrary<CleanupPolicy> = fc.record({
  name: fc.constant('nightly'),
  timeZone: fc.constantFrom('UTC', 'Europe/Vienna'),
  windows: fc.constantFrom([], [{ fromMinute: 0, toMinute: 600, days: ['mon' as const] }]),
  limits: fc.record({ maxActions: fc.constantFrom(1, 3, 100), maxPercent: fc.constantFrom(10, 50, 100) }),
  protect: fc.constantFrom([], ['golden-*'], ['ci-1']),
  protectMayMatchNothing: fc.constant(false),
  warnBeforeExpiryMs: fc.constantFrom(null, 3 * dayMs),
  notify: fc.constant(null),
  escalate: fc.constant(null),
  rules: fc.tuple(rule('first'), rule('second'), rule('third')),
});

export const ownerIn = ({ facts, seen }: Truth) => ownershipOf(facts, deployment, seen);
