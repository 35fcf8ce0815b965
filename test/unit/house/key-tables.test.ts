import { expect, test } from 'vitest';
import { workerActions } from '../../../src/cli/doctor/needed-actions.js';
import { workerRows } from '../../workflows/keys/key-tables.js';

test('docs/security.md lists the actions of a worker as doctor names them', () => {
  expect(workerRows).toEqual(Object.entries(workerActions));
});
