/** A configured service under test: `vitest.config.ts` reads it from the environment. */
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Base URL with the version; empty for the tests' own local service. */
    readonly conformanceUrl: string;
    readonly conformanceKey: string;
  }
}

export interface Address {
  /** Base URL with the version. */
  readonly url: string;
  readonly key: string;
}

/** @returns undefined if the tests start a local service */
export function remoteTarget(): Address | undefined {
  const url = inject('conformanceUrl');
  return url ? { url: url.replace(/\/$/, ''), key: inject('conformanceKey') } : undefined;
}
