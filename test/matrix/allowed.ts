/** How a run may end, for what was the matter with which call. What its result says must be true besides: `oracle.ts`. */
import type { EndpointName } from '../../src/contract/endpoints.js';
import type { FaultClass } from './faults.js';
import type { Scenario } from './scenario.js';

export type Extent = 'once' | 'lasting';

export interface Trouble {
  readonly class: FaultClass;
  readonly extent: Extent;
  readonly endpoint: EndpointName;
}

type Workflow = Scenario['workflow'];
type Ends = Readonly<Record<Workflow, readonly string[]>>;

/** The service has said no. */
const refused: Ends = {
  createThenPrompt: ['rejected', 'sandbox_failed', 'prompt_failed'],
  forkFanout: ['partly_failed', 'source_failed'],
  stopAndAwaitArchive: ['rejected', 'gone'],
  retentionCleanup: ['failed', 'applied'],
};

/** Time has passed over what did not pass. */
const outwaited: Ends = {
  createThenPrompt: ['deadline_exceeded', 'sandbox_failed'],
  forkFanout: ['deadline_exceeded', 'partly_failed', 'source_failed'],
  stopAndAwaitArchive: ['still_failing'],
  retentionCleanup: ['cancelled', 'applied', 'failed'],
};

/** Nobody can know. */
const unknown: Ends = {
  createThenPrompt: ['outcome_unknown'],
  forkFanout: ['partly_failed', 'source_failed'],
  stopAndAwaitArchive: [],
  retentionCleanup: [],
};

/** Calls that are not made twice, for want of a key. */
const unrepeatable: ReadonlySet<EndpointName> = new Set(['sendPrompt', 'runCommand', 'listEvents']);

/** Told `no` for good, or told so often enough. */
function isRefusal({ class: of, extent }: Trouble): boolean {
  return of === 'permanent' || of === 'gone' || (of === 'few_tries' && extent === 'lasting');
}

/** One row that cannot be read is no trouble where the sandbox can be asked for by its id. */
export function isHarmless({ always }: Scenario, { class: of, endpoint }: Omit<Trouble, 'extent'>): boolean {
  return of === 'others_row' || (of === 'own_row' && endpoint === 'listSandboxes' && always === undefined);
}

/** The outcomes that a run with this trouble may have. */
export function allowedOutcomes(scenario: Scenario, trouble: Trouble): readonly string[] {
  const { workflow, expected, always } = scenario;
  const allowed = [expected];
  const isAmbiguous = trouble.class === 'ambiguous' || trouble.class === 'unavailable' || trouble.class === 'own_row';
  if (isRefusal(trouble)) allowed.push(...refused[workflow]);
  if (trouble.extent === 'lasting' && !isHarmless(scenario, trouble)) allowed.push(...outwaited[workflow]);
  if ((isAmbiguous || always !== undefined) && unrepeatable.has(trouble.endpoint)) allowed.push(...unknown[workflow]);
  // What led to the call was a lost prompt, and whatever keeps it from being found leaves it unknown.
  if (always && Object.keys(always).some((site) => site.startsWith('sendPrompt'))) allowed.push(...unknown[workflow]);
  return allowed;
}
