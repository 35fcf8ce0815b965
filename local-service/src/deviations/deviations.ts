/**
 * How the service can do otherwise than sandflow assumes, for tests of clients: one switch at least for each assumption, under
 * its id. `A-….word` is another way in which the same assumption can be wrong. The others belong to no assumption.
 */
import type { AssumptionId } from '../../../src/contract/assumptions.js';
import type { Deviation } from './deviation.js';
import { ofAnswers } from './of-answers.js';
import { ofSandboxes } from './of-sandboxes.js';
import { ofWork } from './of-work.js';

const table = { ...ofSandboxes, ...ofWork, ...ofAnswers } satisfies Readonly<Record<AssumptionId, Deviation>>;

/** The name of a deviation. */
export type DeviationName = keyof typeof table;

export const deviations: Readonly<Record<DeviationName, Deviation>> = table;

/** Every name. */
export const deviationNames = Object.keys(table) as readonly DeviationName[];
