/** The service under test when it is not ours: `vitest.config.ts` reads it from the environment. */
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Base URL with the version; empty for a local service of the tests' own. */
    readonly conformanceUrl: string;
    readonly conformanceKey: string;
  }
}

export interface Address {
  /** Base URL with the version. */
  readonly url: string;
  readonly key: string;
}

/** @returns undefined where the tests start a local service */
export function remoteTarget(): Address | undefined {
  const url = inject('conformanceUrl');
  return url ? { url: url.replace(/\/$/, ''), key: inject('conformanceKey') } : undefined;
}
