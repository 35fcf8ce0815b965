/** Foreign texts and user patterns that try to keep a pattern busy: eight times the text takes not far more than eight times the work. */
import { describe, expect, it } from 'vitest';
import { fencedBlocks, shellBlocks } from '../../../../local-service/src/agent/shell-blocks.js';
import { variablesIn } from '../../../../local-service/src/environments/variables.js';
import { pathWithoutSecrets } from '../../../../local-service/src/http/call.js';
import { parsePublicKey } from '../../../../local-service/src/ssh/public-key.js';
import { parseOwnedSandboxName } from '../../../../src/addresses/addresses.js';
import { createItemFolders } from '../../../../src/cli/fanout/results/item-folders.js';
import { leftText } from '../../../../src/cli/output/job-text.js';
import { escapeUnsafe, oneLine } from '../../../../src/cli/output/terminal-safe.js';
import { createEntryText } from '../../../../src/cli/output/transcript-entry.js';
import { nameMatches } from '../../../../src/cli/sandboxes/list-sandboxes.js';
import { parseDurationMs } from '../../../../src/cli/units.js';
import { retryAfterMs } from '../../../../src/client/read-response.js';
import { readBaseUrl } from '../../../../src/client/request-address.js';
import { createTemplate } from '../../../../src/fanout/template.js';
import { plainText } from '../../../../src/report/plain-text.js';
import { readDurationMs } from '../../../../src/texts/duration.js';

const smallSize = 2_000;
const growth = 8;
/** Eight for linear work, 64 for quadratic work. */
const maxRatio = 32;
/** Below this a measurement means nothing. */
const minMicroseconds = 2_000;

/** The repeated part of a text, and its end, so that a match that began fails. */
const pieces = [
  'a',
  'a-',
  '0',
  '0.0',
  '{',
  '{{a',
  '}',
  '`',
  '~',
  ' ',
  '\t',
  '\n',
  '\n```',
  '\r',
  '"',
  "'",
  '=',
  'a=',
  '#',
  ' #',
  '/',
  '?',
  '&',
  '%',
  '\u001b',
  '\u001b[',
  '\u001b[0',
  '\u001b]',
  '\u009b',
  '-',
  '.',
  '[',
  '\ud800',
  '*',
];
const endings = ['', '!', 'b', '\n', '\u0000'];
const beginnings = ['', 'sf-a-', 'ssh-rsa ', '```sh\n', 'A="', 'export A='];

const readers: Readonly<Record<string, (text: string) => unknown>> = {
  'a duration': (text) => parseDurationMs(text, '--timeout'),
  'a duration of a policy': readDurationMs,
  'a name of a sandbox': parseOwnedSandboxName,
  'Retry-After': (text) => retryAfterMs(text, 0),
  'a template': (text) => createTemplate(text),
  'a line of a terminal': oneLine,
  'JSON for a terminal': escapeUnsafe,
  'an answer in the report': plainText,
  'a message of an agent on a terminal': (text) =>
    createEntryText({ paint: (_style, shown) => shown, columns: () => undefined })({
      kind: 'message',
      prompt: 1,
      text,
      at: null,
    }),
  'shell blocks': shellBlocks,
  'fenced blocks': fencedBlocks,
  'variables of an environment': variablesIn,
  'a public key': parsePublicKey,
  'a base URL': (path) => readBaseUrl(`https://api.example.com/${path}`),
  'an address in the call book': pathWithoutSecrets,
  'the folder of an item': (itemId) => createItemFolders()({ itemId, index: 0 }),
  'what was left': (why) =>
    leftText({ kind: 'sandbox', sandboxId: 'bx_1', sandboxName: why, conversationId: null, why }),
};

/** CPU time of this process, so that a busy machine does not count. The minimum of three: nothing reduces work. */
function cpuMicroseconds(act: () => unknown): number {
  const once = (): number => {
    const before = process.cpuUsage();
    try {
      act();
    } catch {
      // A refusal is a valid answer.
    }
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  return Math.min(once(), once(), once());
}

/** Three times in a row: a garbage collection makes one measurement wrong, and not all. */
function growsTooFast(act: (length: number) => unknown, small = smallSize): boolean {
  return [1, 2, 3].every(() => {
    const large = cpuMicroseconds(() => act(small * growth));
    if (large < minMicroseconds) return false;
    return (
      large >
      maxRatio *
        Math.max(
          cpuMicroseconds(() => act(small)),
          minMicroseconds / maxRatio,
        )
    );
  });
}

describe('reading takes linear time', () => {
  it.each(Object.entries(readers))('%s', (_name, read) => {
    const slow = beginnings
      .flatMap((start) => pieces.flatMap((piece) => endings.map((end) => ({ start, piece, end }))))
      .filter(({ start, piece, end }) => growsTooFast((length) => read(`${start}${piece.repeat(length)}${end}`)));
    expect(slow).toEqual([]);
  });

  it('for a name pattern with any number of stars', () => {
    const matching = (stars: number) => nameMatches(`${'a*'.repeat(stars)}b`);
    // A regular expression with three stars takes a second for these, and one with more never ends.
    expect(growsTooFast((length) => matching(3)('a'.repeat(length)), 100)).toBe(false);
    const matches = matching(50);
    expect(matches(`${'a'.repeat(100)}c`)).toBe(false);
    expect(growsTooFast((length) => matches('a'.repeat(length)))).toBe(false);
  });
});
