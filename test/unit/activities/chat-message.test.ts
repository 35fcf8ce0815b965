import { describe, expect, it } from 'vitest';
import { chatMessage } from '../../../activities/notification/chat-message.js';
import { chats } from '../../../src/contract/workflow-safe/chats.js';
import type { Notification } from '../../../src/protocol/notification.js';

const job: Notification = {
  id: 'msg_1',
  event: 'ended',
  jobId: 'nightly-43',
  workflowId: 'sf-team-nightly-43',
  workflowType: 'createThenPrompt',
  sandboxId: 'bx_2345abcd',
  outcome: 'completed',
  message: null,
  at: '2026-11-26T02:30:00Z',
};
const textOf = (over: Partial<Notification>) =>
  (chatMessage('discord', { ...job, ...over }) as { content: string }).content;

describe('a notification in a chat', () => {
  it('says what happened, what it costs, and the command that shows more', () => {
    const failed = { outcome: 'prompt_failed', message: 'block 1\nexited with 3.' };
    expect(textOf(failed)).toBe(
      'Job nightly-43 ended: prompt_failed: block 1 exited with 3. See `sandflow jobs show nightly-43`',
    );
    expect(textOf({ event: 'blocked', outcome: null, message: 'unauthorized' })).toBe(
      'Job nightly-43 waits for somebody: unauthorized. Its sandbox bx_2345abcd costs machine time until it continues. See `sandflow jobs show nightly-43`',
    );
    expect(textOf({ workflowType: 'forkFanout', jobId: 'batch-7', outcome: 'partly_failed' })).toBe(
      'Batch batch-7 ended: partly_failed. See `sandflow fanout show batch-7`',
    );
    const stop = { workflowType: 'stopAndAwaitArchive', jobId: null, outcome: null } as const;
    expect(textOf({ ...stop, event: 'stop_failing', message: 'no room' })).toBe(
      'The stop of bx_2345abcd does not end: no room. The sandbox bx_2345abcd costs machine time until it has stopped. See `sandflow stops explain bx_2345abcd`',
    );
    const cleanup = { workflowType: 'retentionCleanup', workflowId: 'sf-cleanup-nightly', jobId: null } as const;
    expect(textOf({ ...cleanup, event: 'data_expiring', message: 'of 3 sandboxes' })).toBe(
      'The cleanup sf-cleanup-nightly: saved data will be deleted: of 3 sandboxes. See `sandflow cleanup report sf-cleanup-nightly`',
    );
  });

  it('mentions nobody, and ends no code, whatever its text holds', () => {
    const hostile = { outcome: 'rejected', message: '<!channel> @everyone `rm` & more' };
    expect(chatMessage('slack', { ...job, ...hostile })).toEqual({
      text: "Job nightly-43 ended: rejected: &lt;!channel&gt; @everyone 'rm' &amp; more. See `sandflow jobs show nightly-43`",
    });
    expect(chatMessage('discord', { ...job, ...hostile })).toMatchObject({ allowed_mentions: { parse: [] } });
  });

  it.each(chats)('is short enough for %s', (chat) => {
    const message = 'long '.repeat(10_000);
    expect(JSON.stringify(chatMessage(chat, { ...job, message, outcome: 'rejected' })).length).toBeLessThan(2_000);
  });
});
