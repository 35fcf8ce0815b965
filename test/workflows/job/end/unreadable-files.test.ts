/** A job whose files and lists cannot be read goes on without them. Gate; a stand and some 10 s. */
import { expect, it } from 'vitest';
import { ListIncompleteError, UnexpectedResponseError } from '../../../../src/client/index.js';
import { shareChangedStand } from '../../changed-stand.js';
import { script } from '../../workflow-harness.js';

const { stand, change } = shareChangedStand();

it('sends its prompt, tells the answer, and says of each file why it is missing', async () => {
  change.readFile = () => Promise.reject(new UnexpectedResponseError('readFile', 200, 'body', 'is not JSON'));
  const handle = await stand.start({
    prompts: [{ prompt: script('echo made > note; echo done') }],
    put: [{ path: 'given', content: { base64: Buffer.from('x').toString('base64') } }],
    collect: ['note', 'given'],
  });
  const result = await handle.result();
  expect(result).toMatchObject({ outcome: 'completed', stop: { status: 'completed' }, left: [] });
  expect(result.prompts).toMatchObject([{ status: 'completed', result: expect.stringContaining('done') }]);
  const missing = { ref: null, error: expect.stringContaining('`body` of its response is not JSON'), unchanged: null };
  expect(result.files).toMatchObject([
    { ...missing, path: 'note' },
    { ...missing, path: 'given' },
  ]);
});

it('needs no list of the account', async () => {
  change.listAllSandboxes = () => Promise.reject(new ListIncompleteError('listSandboxes', '2 rows'));
  const handle = await stand.start({ prompts: [{ prompt: script('echo done') }] });
  expect(await handle.result()).toMatchObject({ outcome: 'completed', left: [] });
});
