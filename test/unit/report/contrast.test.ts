import { describe, expect, test } from 'vitest';
import { dark, light, type Palette } from '../../../src/report/style.js';

/** Background colours of text. */
const grounds = ['page', 'card'] as const;
const texts = ['text', 'muted', 'accent', 'good', 'bad', 'warn'] as const;

describe.each([
  ['light', light],
  ['dark', dark],
] as const)('the %s palette', (_, palette) => {
  test.each(grounds.flatMap((ground) => texts.map((text) => [text, ground] as const)))(
    '%s on %s is readable: 4.5 to 1',
    (text, ground) => {
      expect(contrast(palette[text], palette[ground])).toBeGreaterThanOrEqual(4.5);
    },
  );
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
