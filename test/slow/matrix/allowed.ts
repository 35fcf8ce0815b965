/** The allowed outcomes of a run for each fault and call. `oracle.ts` checks the rest of its result. */
import type { EndpointName } from '../../../src/contract/endpoints/endpoints.js';
import type { FaultClass } from './faults/faults.js';
import type { Scenario } from './scenarios/scenario.js';

export type Extent = 'once' | 'lasting';

export interface Trouble {
  readonly class: FaultClass;
  readonly extent: Extent;
  readonly endpoint: EndpointName;
}

type Workflow = Scenario['workflow'];
type Ends = Readonly<Record<Workflow, readonly string[]>>;

/** The service has refused. */
const refused: Ends = {
  createThenPrompt: ['rejected', 'sandbox_failed', 'prompt_failed'],
  forkFanout: ['partly_failed', 'source_failed'],
  // A step of an escalation that is refused is left, and the stop goes on failing.
  stopAndAwaitArchive: ['rejected', 'gone', 'still_failing'],
  retentionCleanup: ['failed', 'applied'],
};

/** Time has run out. */
const outwaited: Ends = {
  createThenPrompt: ['deadline_exceeded', 'sandbox_failed'],
  forkFanout: ['deadline_exceeded', 'partly_failed', 'source_failed'],
  stopAndAwaitArchive: ['still_failing'],
  retentionCleanup: ['cancelled', 'applied', 'failed'],
};

/** The effect is unknown. */
const unknown: Ends = {
  createThenPrompt: ['outcome_unknown'],
  forkFanout: ['partly_failed', 'source_failed'],
  stopAndAwaitArchive: [],
  retentionCleanup: [],
};

/** Calls that are not repeated, because they have no key. */
const unrepeatable: ReadonlySet<EndpointName> = new Set(['sendPrompt', 'runCommand', 'listEvents']);

/** Refused for good, or too often. */
function isRefusal({ class: of, extent }: Trouble): boolean {
  const endsAfterTries = of === 'few_tries' || of === 'unreadable';
  return of === 'permanent' || of === 'gone' || (endsAfterTries && extent === 'lasting');
}

/** One unreadable row does not matter if the sandbox can be read by its id. */
export function isHarmless({ always }: Scenario, { class: of, endpoint }: Omit<Trouble, 'extent'>): boolean {
  return of === 'others_row' || (of === 'own_row' && endpoint === 'listSandboxes' && always === undefined);
}

/** The allowed outcomes of a run with this fault. */
export function allowedOutcomes(scenario: Scenario, trouble: Trouble): readonly string[] {
  const { workflow, expected, always, lens } = scenario;
  const allowed = [expected];
  const ambiguous: readonly FaultClass[] = ['ambiguous', 'unavailable', 'unreadable', 'own_row'];
  const isAmbiguous = ambiguous.includes(trouble.class);
  if (isRefusal(trouble)) allowed.push(...refused[workflow]);
  if (trouble.extent === 'lasting' && !isHarmless(scenario, trouble)) allowed.push(...outwaited[workflow]);
  if ((isAmbiguous || always !== undefined) && unrepeatable.has(trouble.endpoint)) allowed.push(...unknown[workflow]);
  // Without an id the record alone shows what became of a prompt, and the service denies that there is one.
  const hidesRecord = trouble.class === 'gone' && trouble.extent === 'lasting' && trouble.endpoint === 'listEvents';
  if (lens !== undefined && hidesRecord) allowed.push(...unknown[workflow]);
  // The call follows a lost prompt, which stays unknown if it cannot be found.
  if (always && Object.keys(always).some((site) => site.includes('/sendPrompt#'))) allowed.push(...unknown[workflow]);
  return allowed;
}
