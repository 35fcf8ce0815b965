import { expect, it } from 'vitest';
import { leadsOutOfSandbox } from '../../../src/contract/remote-paths.js';

it.each(['..', '../x', 'a/../../x', './..', 'a//../..', 'a/./../..', '../a/b'])(
  '%s leads out of the sandbox',
  (path) => {
    expect(leadsOutOfSandbox(path)).toBe(true);
  },
);

it.each(['', '.', 'a', 'a/b/../..', 'a/..', '..a', 'a..', '...', 'a/./b/../../c', '/etc/../..', '/../x'])(
  '%s stays in the sandbox, or is absolute',
  (path) => {
    expect(leadsOutOfSandbox(path)).toBe(false);
  },
);
