/** The models that the settings list. */
import type { reasoningEfforts } from '../../../src/contract/workflow-safe/reasoning-efforts.js';

export type ReasoningEffort = (typeof reasoningEfforts)[number];

export interface LocalModel {
  readonly model: string;
  /** The levels that it accepts. Default: none. */
  readonly reasoningEfforts?: readonly ReasoningEffort[];
}
/** The models of the settings, by provider. The others have two models each, and accept models that are not listed. */
export type GivenModels = ReadonlyMap<string, readonly LocalModel[]>;
