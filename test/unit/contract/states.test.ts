import { expect, it } from 'vitest';
import {
  isCreating,
  isFinalPromptStatus,
  isOpenStop,
  isUsable,
  promptStatuses,
  sandboxStates,
  stopStatuses,
} from '../../../src/contract/workflow-safe/states.js';

it('says which states of a sandbox, a prompt and a stop allow what', () => {
  expect(sandboxStates.filter(isUsable)).toEqual(['ready', 'idle', 'running']);
  expect(sandboxStates.filter(isCreating)).toEqual(['init', 'provisioning', 'provisioned', 'cloning']);
  expect(promptStatuses.filter(isFinalPromptStatus)).toEqual(['completed', 'failed', 'interrupted']);
  expect(stopStatuses.filter((status) => isOpenStop({ status }))).toEqual(['pending', 'failing']);
});

it('concludes nothing from an unknown state', () => {
  expect([isUsable, isCreating, isFinalPromptStatus].map((asks) => asks('paused'))).toEqual([false, false, false]);
  expect([{ status: 'paused' }, null, undefined].map(isOpenStop)).toEqual([false, false, false]);
});
