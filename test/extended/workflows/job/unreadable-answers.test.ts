/** A needed answer that stays unreadable ends a job long before its deadline. Some 80 s, and 15 s of CPU. */
import { expect, it } from 'vitest';
import { type CallName, UnexpectedResponseError } from '../../../../src/client/index.js';
import { shareChangedStand } from '../../../workflows/changed-stand.js';
import { readySandbox } from '../../../workflows/stop/stop-harness.js';

const { stand, change } = shareChangedStand();

const unreadable = (endpoint: CallName, status: number, field: string) =>
  new UnexpectedResponseError(endpoint, status, field, 'is missing');

it('ends a job whose sandbox, or the result of whose command, stays unreadable, with the name of the field', async () => {
  const sandboxId = await readySandbox(stand);
  change.getSandbox = async (id, options) => {
    if (id === sandboxId) throw unreadable('getSandbox', 200, 'sandbox.state');
    return stand.api.getSandbox(id, options);
  };
  change.runCommand = () => Promise.reject(unreadable('runCommand', 202, 'exitCode'));
  const jobs = await Promise.all([
    stand.start({ source: { kind: 'existing', sandboxId } }),
    stand.start({ prompts: [], commands: ['echo accepted-only'] }),
  ]);
  const [ofSandbox, ofCommand] = await Promise.all(jobs.map((job) => job.result()));
  const named = (field: string) => ({ code: 'unexpected_response', message: expect.stringContaining(field) });
  expect(ofSandbox).toMatchObject({ outcome: 'rejected', error: named('getSandbox with 200, but `sandbox.state`') });
  expect(ofCommand).toMatchObject({
    ...{ outcome: 'rejected', error: named('runCommand with 202, but `exitCode`') },
    ...{ stop: { status: 'completed' }, left: [] },
  });
});
