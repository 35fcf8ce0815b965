import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createToldOutput } from '../../../src/agent/told-output.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function telling(before = '') {
  const pieces: { readonly text: string; readonly from: number }[] = [];
  const output = createToldOutput(before, (text, from) => pieces.push({ text, from }));
  return { output, pieces };
}
const hourMs = 3_600_000;

it('tells whole lines after a pause, and knows what is left', () => {
  const { output, pieces } = telling();
  output.push('one\ntw');
  expect(pieces).toEqual([]);
  vi.advanceTimersByTime(2_000);
  output.push('o\nth');
  vi.advanceTimersByTime(2_000);
  output.push('ree');
  vi.advanceTimersByTime(hourMs);
  expect(pieces).toEqual([
    { text: 'one\n', from: 0 },
    { text: 'two\n', from: 4 },
  ]);
  expect(output.endIn('one\ntwo\nthree')).toBe(8);
});

it('tells nothing after its end', () => {
  const { output, pieces } = telling();
  output.push('one\n');
  output.stop();
  vi.advanceTimersByTime(hourMs);
  expect(pieces).toEqual([]);
  expect(output.endIn('one\n')).toBe(0);
});

it('tells a flood in few short pieces, up to 1 MiB', () => {
  const { output, pieces } = telling();
  const flood = Array.from({ length: 300_000 }, (_, at) => `line ${at}\n`).join('');
  for (let at = 0; at < flood.length; at += 65_536) output.push(flood.slice(at, at + 65_536));
  vi.advanceTimersByTime(hourMs);
  expect(pieces.length).toBeLessThan(100);
  expect(Math.max(...pieces.map(({ text }) => text.length))).toBeLessThanOrEqual(16 * 1024);
  const told = pieces.map(({ text }) => text).join('');
  expect(flood.startsWith(told)).toBe(true);
  expect(told.length).toBeGreaterThan(1_000_000);
  expect(told.length).toBeLessThan(1_200_000);
  expect(output.endIn(flood)).toBe(told.length);
});

it('tells a command that prints each second for a day in fewer than a thousand pieces, and cuts no character', () => {
  const { output, pieces } = telling();
  for (let second = 0; second < 24 * 3_600; second += 1) {
    output.push('tick\n');
    vi.advanceTimersByTime(1_000);
  }
  expect(pieces.length).toBeLessThan(1_000);
  expect(pieces.length).toBeGreaterThan(300);
  const { output: wide, pieces: cut } = telling();
  wide.push(`x${'\u{1F600}'.repeat(20_000)}`);
  vi.advanceTimersByTime(hourMs);
  expect(cut.length).toBeGreaterThan(1);
  expect(cut.filter(({ text }) => /[\uD800-\uDBFF]$|^[\uDC00-\uDFFF]/.test(text))).toEqual([]);
});

it.each([
  ['the same lines', 'a\nb\nc\n', [{ text: 'c\n', from: 4 }]],
  ['other lines from the second on', 'a\nx\nc\n', [{ text: 'x\nc\n', from: 2 }]],
  ['a longer line at the end', 'a\nbb\n', [{ text: 'bb\n', from: 2 }]],
  ['fewer lines', 'a\n', []],
])('does not tell again what an interrupted run told, if the new run prints %s', (_, whole, expected) => {
  const { output, pieces } = telling('a\nb\n');
  for (const character of whole) {
    output.push(character);
    vi.advanceTimersByTime(1);
  }
  vi.advanceTimersByTime(hourMs);
  expect(pieces).toEqual(expected);
  expect(output.endIn(whole)).toBe(whole.length);
});
