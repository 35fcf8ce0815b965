import { describe, expect, test } from 'vitest';
import { dark, light, type Palette } from '../../../src/report/palette.js';

/** Background colours of text. */
const grounds = ['page', 'card', 'raised', 'differs', 'differsMore'] as const;
const texts = ['text', 'muted', 'accent', 'good', 'bad', 'warn', 'calm'] as const;
const fills = ['queued', 'booting', 'preparing', 'prompting', 'ending', 'good', 'bad', 'warn', 'accent'] as const;

describe.each([
  ['light', light],
  ['dark', dark],
] as const)('the %s palette', (_, palette) => {
  // Only the text itself and its marks appear on differing lines.
  const pairs = grounds.flatMap((ground) =>
    texts
      .filter((text) => !ground.startsWith('differs') || text === 'text' || (text === 'muted' && ground === 'differs'))
      .map((text) => [text, ground] as const),
  );

  test.each(pairs)('%s on %s is readable: 4.5 to 1', (text, ground) => {
    expect(contrast(palette[text], palette[ground])).toBeGreaterThanOrEqual(4.5);
  });

  test('text on a filled button is readable', () => {
    expect(contrast(palette.onAccent, palette.accent)).toBeGreaterThanOrEqual(4.5);
  });

  test.each(fills)('%s stands out in a chart: 3 to 1', (fill) => {
    expect(contrast(palette[fill], palette.card)).toBeGreaterThanOrEqual(3);
  });
});

test.each([light, dark])('prompting stands out most of all phases', (palette) => {
  const others = (['queued', 'booting', 'preparing', 'ending'] as const).map((kind) => palette[kind]);
  const strongest = Math.max(...others.map((colour) => contrast(colour, palette.card)));
  expect(contrast(palette.prompting, palette.card)).toBeGreaterThan(1.4 * strongest);
});

test('contrast is computed according to the guidelines', () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21);
  expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
});

/** As the Web Content Accessibility Guidelines define it. */
function contrast(one: Palette['text'], other: Palette['text']): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
