/** Texts of the service and of people are bounded before they travel or appear. */
import { describe, expect, it } from 'vitest';
import { shortEvent } from '../../../src/contract/records/short-event.js';
import { isShortText, shortText } from '../../../src/contract/records/short-text.js';
import { bytesOf, headOf, storedHead } from '../../../src/protocol/stored-text.js';
import { cut, payloadBytes } from '../../../src/texts/length.js';

const stored = { ref: 'inputs/1', bytes: 1_000_000, sha256: '0'.repeat(64), head: 'The beginning' };

describe('a short text', () => {
  it('has at most 128 characters, all of them visible', () => {
    expect(['', 'a', 'ü'.repeat(128)].map(isShortText)).toEqual([true, true, true]);
    const refused = ['a'.repeat(129), 'a\n', '\u001b[1m', 'a\u202e', 'a\u200b', '\u2028', '\ud800'];
    expect(refused.map(isShortText)).toEqual(refused.map(() => false));
    expect(refused.map((text) => shortText().safeParse(text).success)).toEqual(refused.map(() => false));
    expect(shortText().safeParse('a'.repeat(129)).error?.issues[0]?.message).toMatch(/too long/);
  });
});

describe('a text that is cut', () => {
  it('has at most the given length, and ends with an ellipsis only if something is missing', () => {
    expect([cut('abcd', 4), cut('abcde', 4), headOf('abcde', 3)]).toEqual(['abcd', 'abc…', 'ab…']);
    expect(headOf('a'.repeat(81))).toHaveLength(80);
  });

  it('is never cut within a character', () => {
    for (const first of ['\u{10000}', '\u{1f600}', '\u{10ffff}']) {
      expect(cut(`ab${first}cd`, 4)).toBe('ab…');
      expect(cut(`a${first}bcd`, 4)).toBe(`a${first}…`);
    }
    expect(cut('ab\ud7ffcd', 4)).toBe('ab\ud7ff…');
  });

  it('is the beginning of a stored text, too', () => {
    expect([headOf(stored), headOf(stored, 4)]).toEqual(['The beginning', 'The…']);
  });

  it('takes at most 130 bytes of a payload as the head of a stored text', () => {
    expect(storedHead('a'.repeat(200))).toHaveLength(80);
    for (const letter of ['a', 'ü', '語', '\u{1f600}', '\u0000', '"'])
      expect(payloadBytes(storedHead(letter.repeat(200)))).toBeLessThanOrEqual(130);
  });
});

it('counts bytes of UTF-8, of the whole of a stored text, and of JSON', () => {
  expect([bytesOf('aü語'), bytesOf(stored), payloadBytes('ü"'), payloadBytes(undefined)]).toEqual([6, 1_000_000, 6, 0]);
});

describe('an event of a sandbox', () => {
  const event = { id: 'ev_1', type: 'response', conversationId: 'c', promptId: 'p', createdAt: '2026-01-01T00:00:00Z' };

  it('keeps its known fields', () => {
    expect(shortEvent({ ...event, added: 1 } as typeof event)).toEqual(event);
  });

  it('is bounded: long texts are cut, and long values of other kinds left out', () => {
    const most = 64 * 1024;
    const data = { text: 'a'.repeat(most), long: 'b'.repeat(most + 1), list: [1], lists: ['c'.repeat(most)], code: 0 };
    expect(shortEvent({ ...event, data })).toEqual({
      ...event,
      data: { text: data.text, long: `${'b'.repeat(most - 1)}…`, list: [1], code: 0 },
    });
  });
});
