import { describe, expect, it } from 'vitest';
import { chatMessage } from '../../../activities/notification/chat-message.js';
import { type Chat, chats } from '../../../src/protocol/chats.js';
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

interface Run {
  readonly text: string;
}
/** What a chat reads as its own language, and not as text: what is outside of code, or of runs of text. */
const readAsMarkup: Readonly<Record<Chat, (sent: object) => string>> = {
  slack: (sent) => (sent as { text: string }).text.replaceAll(/`[^`]*`/g, ''),
  discord: (sent) => (sent as { content: string }).content.replaceAll(/`[^`]*`/g, ''),
  teams: (sent) => JSON.stringify(sent, (key, value) => (key === 'inlines' ? [] : value)),
};
/** What people see. */
const shown: Readonly<Record<Chat, (sent: object) => string>> = {
  slack: (sent) =>
    (sent as { text: string }).text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
  discord: (sent) => (sent as { content: string }).content,
  teams(sent) {
    const [card] = (sent as { attachments: { content: { body: { inlines: Run[] }[] } }[] }).attachments;
    return card?.content.body.flatMap(({ inlines }) => inlines.map(({ text }) => text)).join('') ?? '';
  },
};

const hostile = {
  'a masked link': '[Sign in again](https://evil.example/login)',
  'a masked link of Slack': '<https://evil.example/login|Sign in again>',
  mentions: '<!channel> <@U024BE7LH> @everyone <@&1> <#C024BE7LR> <at>all</at>',
  'the end of code': '` [Sign in](https://evil.example) `` ``` <!here>',
  HTML: '<a href="https://evil.example">Sign in</a><img src=x onerror=alert(1)>',
  marks: '*bold* _italic_ ~struck~ ||spoiler|| # title > quote - list :smile: <t:1700000000>',
  'an escape': '\\` \\[Sign in](https://evil.example)',
  'an image': '![Sign in](https://evil.example/x.png)',
} as const;

describe('a notification in a chat', () => {
  it('says what happened, what it costs, and the command that shows more', () => {
    const failed = { outcome: 'prompt_failed', message: 'block 1\nexited with 3.' };
    expect(textOf(failed)).toBe(
      'Job `nightly-43` ended: `prompt_failed`: `block 1 exited with 3`. See `sandflow jobs show nightly-43`',
    );
    expect(textOf({ event: 'blocked', outcome: null, message: 'unauthorized' })).toBe(
      'Job `nightly-43` waits for somebody: `unauthorized`. Its sandbox `bx_2345abcd` costs machine time until it continues. See `sandflow jobs show nightly-43`',
    );
    expect(textOf({ workflowType: 'forkFanout', jobId: 'batch-7', outcome: 'partly_failed' })).toBe(
      'Batch `batch-7` ended: `partly_failed`. See `sandflow fanout show batch-7`',
    );
    const stop = { workflowType: 'stopAndAwaitArchive', jobId: null, outcome: null } as const;
    expect(textOf({ ...stop, event: 'stop_failing', message: 'no room' })).toBe(
      'The stop of `bx_2345abcd` does not end: `no room`. The sandbox `bx_2345abcd` costs machine time until it has stopped. See `sandflow stops explain bx_2345abcd`',
    );
    const cleanup = { workflowType: 'retentionCleanup', workflowId: 'sf-cleanup-nightly', jobId: null } as const;
    expect(textOf({ ...cleanup, event: 'data_expiring', message: 'of 3 sandboxes' })).toBe(
      'The cleanup `sf-cleanup-nightly`: saved data will be deleted: `of 3 sandboxes`. See `sandflow cleanup report sf-cleanup-nightly`',
    );
  });

  const fields = ['message', 'jobId', 'workflowId', 'outcome', 'sandboxId'] as const;
  const rows = chats.flatMap((chat) =>
    Object.entries(hostile).flatMap(([what, text]) => fields.map((field) => ({ chat, what, text, field }))),
  );
  it.each(rows)('shows $what of the $field as text in $chat', ({ chat, text, field }) => {
    for (const workflowType of ['createThenPrompt', 'stopAndAwaitArchive', 'own']) {
      for (const event of ['ended', 'blocked', 'stop_failing'] as const) {
        const sent = (value: string) => chatMessage(chat, { ...job, workflowType, event, [field]: value });
        // Without a command, nothing is to be seen.
        const around = (value: string) => readAsMarkup[chat](sent(value)).replace('. See ', '');
        expect(around(text)).toBe(around('harmless'));
        const isShown = shown[chat](sent('harmless')).includes('harmless');
        const asShown = chat === 'teams' ? text : text.replaceAll('`', "'");
        expect(shown[chat](sent(text)).includes(asShown)).toBe(isShown);
      }
    }
  });

  it.each(['x; touch /tmp/pwned #', 'a`;touch PWNED;`b', "it's", ''])('names no command for the id %s', (id) => {
    for (const chat of chats) {
      const sent = shown[chat](chatMessage(chat, { ...job, workflowType: 'own', workflowId: id }));
      expect(sent).not.toContain('temporal workflow show');
    }
  });

  it.each(['', '\u00ad', '\u200b', '.', ' '])('has no empty code, whatever is empty: "%s"', (empty) => {
    for (const field of fields) {
      const message = '**bold** [a](https://evil.example)';
      const sent = chatMessage('discord', { ...job, message, [field]: empty, event: 'blocked' }) as { content: string };
      expect(sent.content).not.toContain('``');
      expect(readAsMarkup.discord(sent)).not.toMatch(/bold|evil/);
    }
  });

  it('fits into a message of Discord, however long its parts are', () => {
    const long = (length: number) => 'x'.repeat(length);
    for (const length of [200, 255, 1_000, 5_000]) {
      for (const event of ['ended', 'blocked', 'stop_failing', 'stop_escalating', 'data_expiring'] as const) {
        const names = { jobId: long(length), workflowId: long(length), sandboxId: long(length), outcome: long(length) };
        const { content } = chatMessage('discord', { ...job, ...names, event, message: long(5_000) }) as {
          content: string;
        };
        expect(content.length).toBeLessThanOrEqual(2_000);
      }
    }
  });

  it('mentions nobody', () => {
    expect(chatMessage('discord', job)).toMatchObject({ allowed_mentions: { parse: [] } });
  });

  it.each(chats)('leaves out what would turn its text around in %s', (chat) => {
    const message = 'paid \u202Eelpmaxe.live\u202C\u200B\u0007 now';
    expect(shown[chat](chatMessage(chat, { ...job, message }))).toContain('paid elpmaxe.live now');
  });

  it.each(chats)('is short enough for %s', (chat) => {
    const message = 'long '.repeat(10_000);
    expect(JSON.stringify(chatMessage(chat, { ...job, message, outcome: 'rejected' })).length).toBeLessThan(2_000);
  });
});
