/** Draws the jobs of a plan. */
import fc from 'fast-check';
import type { EndpointName } from '../../../src/contract/endpoints/endpoints.js';
import { failsForEver, type JobPlan, type SourceKind, sourceKinds } from './plan.js';

export const often = fc.constantFrom;
/** Not from a `double`, which is nearly always tiny. */
export const rarely = (chance: number) => fc.integer({ min: 1, max: 100 }).map((drawn) => drawn <= chance * 100);
/** Mostly the first value. */
export const mostly = <T>(first: T, ...others: readonly T[]) =>
  fc.oneof({ arbitrary: fc.constant(first), weight: 3 }, { arbitrary: fc.constantFrom(...others), weight: 2 });

const checks = fc.record({
  shows: mostly<'passes' | 'differs' | 'repeats' | 'missing'>('passes', 'differs', 'repeats', 'missing'),
  mends: fc.integer({ min: 0, max: 3 }),
  rounds: fc.integer({ min: 1, max: 4 }),
  before: rarely(0.7),
});
const anyRun = fc.record({
  kind: fc.constant('run' as const),
  source: mostly<'create' | 'shared' | 'archived' | 'fork'>('create', 'shared', 'archived', 'fork'),
  waitFor: mostly<'usable' | 'hydrated'>('usable', 'hydrated'),
  prompts: fc.integer({ min: 1, max: 3 }),
  equalPrompts: rarely(0.2),
  workSeconds: mostly(0, 1, 3, 3, 20),
  // Three of these do not fit into one payload of Temporal.
  answerKb: fc.oneof({ arbitrary: fc.constant(0), weight: 9 }, { arbitrary: fc.constant(900), weight: 1 }),
  conversations: mostly<'one' | 'each'>('one', 'each'),
  setup: rarely(0.2),
  put: rarely(0.4),
  commands: mostly(0, 1, 2),
  // The longest one outlasts a lease that is not renewed.
  commandSeconds: mostly(0, 4, 4, 4, 25),
  collect: rarely(0.4),
  end: often('stop' as const, 'delete' as const, 'keep' as const),
  onUnknown: mostly<'abandon' | 'wait'>('abandon', 'wait'),
  deadlineMs: mostly(60_000, 5_000, 15_000),
  // The shorter one passes while a worker is away.
  ttlSeconds: mostly(600, 15),
  shortLease: rarely(0.3),
  checks: fc.oneof({ arbitrary: fc.constant(null), weight: 3 }, { arbitrary: checks, weight: 2 }),
  fails: fc.oneof(
    { arbitrary: fc.constant(null), weight: 9 },
    { arbitrary: often<'agent' | 'provider' | 'command'>('agent', 'provider', 'command'), weight: 1 },
  ),
});
// Rounds need one conversation.
const run = anyRun.map((drawn) => (drawn.checks ? { ...drawn, conversations: 'one' as const } : drawn));
const alike = fc
  .record({
    by: often('check' as const, 'provider' as const),
    breaker: fc.integer({ min: 2, max: 4 }),
    whenHeld: often('mend' as const, 'go_on' as const, 'cancel' as const),
  })
  // Nobody in the world can add a provider.
  .map((drawn) =>
    drawn.by === 'provider' && drawn.whenHeld === 'mend' ? { ...drawn, whenHeld: 'go_on' as const } : drawn,
  );
const otherThanBatch = (kind: SourceKind) => (kind === 'batch' ? 'setup' : kind);
const severalSources = fc
  .record({
    of: fc.array(often<SourceKind>(...sourceKinds), { minLength: 2, maxLength: 4 }),
    atOnce: fc.integer({ min: 1, max: 3 }),
    end: often('stop' as const, 'delete' as const),
    afterwards: mostly<'leave' | 'resume' | 'mend'>('mend', 'leave', 'resume'),
  })
  // A batch has one source of its own.
  .map((drawn) => ({
    ...drawn,
    of: drawn.of.map((kind, at) => (drawn.of.indexOf(kind) < at ? otherThanBatch(kind) : kind)),
  }));
const batch = fc
  .record({
    kind: fc.constant('batch' as const),
    source: often('archived' as const, 'usable' as const, 'prepare' as const, 'snapshot' as const),
    items: fc.integer({ min: 2, max: 6 }),
    concurrency: fc.integer({ min: 1, max: 6 }),
    retries: fc.integer({ min: 0, max: 2 }),
    end: often('stop' as const, 'delete' as const),
    tight: rarely(0.5),
    alike: fc.oneof({ arbitrary: fc.constant(null), weight: 2 }, { arbitrary: alike, weight: 1 }),
    sources: fc.oneof({ arbitrary: fc.constant(null), weight: 1 }, { arbitrary: severalSources, weight: 1 }),
  })
  // Each source has two items or more. A batch that fails alike has one source.
  .map((drawn) =>
    drawn.sources ? { ...drawn, alike: null, items: Math.max(drawn.items, 2 * drawn.sources.of.length) } : drawn,
  )
  // More than start before it is held.
  .map((drawn) =>
    drawn.alike ? { ...drawn, items: drawn.items + 6, concurrency: Math.min(drawn.concurrency, 3) } : drawn,
  )
  // Longer than its lease.
  .map((drawn) => (drawn.tight ? { ...drawn, items: drawn.items + 4, concurrency: 1 } : drawn));
const callers = fc.integer({ min: 1, max: 3 });
const stop = fc.record({
  kind: fc.constant('stop' as const),
  callers,
  fails: fc.constant(0),
  escalation: fc.constant(null),
});
const escalatedStop = fc.record({
  kind: fc.constant('stop' as const),
  callers,
  fails: often(20, 40, 80, failsForEver),
  escalation: fc.record({
    steps: often(
      '2s: resume-and-stop, 5s: notify, 9s: delete',
      '1s: notify, 3s: resume-and-stop',
      '2s: resume-and-stop, 5s: resume-and-stop',
      '1s: resume-and-stop, 3s: delete',
      '3s: delete',
    ),
    callers: fc.integer({ min: 1, max: 2 }),
  }),
});
const cleanup = fc.record({
  kind: fc.constant('cleanup' as const),
  action: often('stop' as const, 'delete-sandbox' as const),
  sandboxes: fc.integer({ min: 1, max: 3 }),
});
const commandLine = fc.record({ kind: fc.constant('command-line' as const), workSeconds: mostly(0, 3) });
const drawn = {
  run: [{ arbitrary: run, weight: 7 }],
  batch: [{ arbitrary: batch, weight: 2 }],
  stop: [
    { arbitrary: stop, weight: 1 },
    { arbitrary: escalatedStop, weight: 2 },
  ],
  'command-line': [{ arbitrary: commandLine, weight: 1 }],
  cleanup: [{ arbitrary: cleanup, weight: 1 }],
} satisfies Record<JobPlan['kind'], unknown>;
export type JobKind = keyof typeof drawn;
export const jobKinds = Object.keys(drawn) as JobKind[];

export const jobOf = (kinds: readonly JobKind[]): fc.Arbitrary<Keyless<JobPlan>> =>
  fc.oneof(...kinds.flatMap((kind): readonly fc.WeightedArbitrary<Keyless<JobPlan>>[] => drawn[kind]));
type Keyless<Job> = Job extends JobPlan ? Omit<Job, 'key'> : never;

/** The endpoints that a job of this plan probably calls. */
export function endpointsOf(plan: JobPlan): readonly EndpointName[] {
  if (plan.kind === 'batch') {
    return [
      ...(['forkSandbox', 'createSandbox', 'getSandbox', 'sendPrompt', 'listEvents'] as const),
      ...(['stopSandbox', 'deleteSandbox'] as const),
      ...(plan.sources ? (['runCommand'] as const) : []),
    ];
  }
  if (plan.kind === 'command-line') return ['getMe', 'createSandbox', 'sendPrompt', 'deleteSandbox'];
  if (plan.kind === 'stop') {
    const ofSteps = plan.escalation === null ? [] : (['resumeSandbox', 'deleteSandbox'] as const);
    return ['stopSandbox', 'getSandbox', 'getStop', ...ofSteps];
  }
  if (plan.kind === 'cleanup') {
    return ['listSandboxes', 'getSandbox', plan.action === 'stop' ? 'stopSandbox' : 'deleteSandbox'];
  }
  const begin = {
    create: 'createSandbox',
    fork: 'forkSandbox',
    archived: 'resumeSandbox',
    shared: 'getSandbox',
  } as const;
  const { put, commands, collect, workSeconds, deadlineMs, ttlSeconds, end, source } = plan;
  return [
    begin[plan.source],
    'getSandbox',
    'sendPrompt',
    'listEvents',
    'getPrompt',
    'listSandboxes',
    ...(put ? (['writeFile'] as const) : []),
    ...(commands > 0 || plan.checks ? (['runCommand'] as const) : []),
    ...(commands > 0 && collect ? (['readFile'] as const) : []),
    ...(workSeconds * 1_000 > deadlineMs ? (['interruptSandbox'] as const) : []),
    ...(ttlSeconds < 60 ? (['updateSandbox'] as const) : []),
    ...(end === 'stop' && source !== 'shared' ? (['stopSandbox'] as const) : []),
    ...(end === 'delete' && source !== 'shared' ? (['deleteSandbox', 'getDeletionOperation'] as const) : []),
  ];
}
