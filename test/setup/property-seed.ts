/** Lets every property test of a run draw from one seed. */
import { configureGlobal } from 'fast-check';
import { inject } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The seed of all property tests of the run. */
    propertySeed: number;
  }
}

configureGlobal({ seed: inject('propertySeed') });
