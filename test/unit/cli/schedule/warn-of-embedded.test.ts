import { expect, it } from 'vitest';
import { warnOfEmbedded } from '../../../../src/cli/schedule/warn-of-embedded.js';

it('a schedule warns of an embedded server that may be down at night, unless it is kept up', async () => {
  const warnings = async (configured: boolean, status: { kept: boolean; foreground: boolean } | undefined) => {
    const notices: string[] = [];
    const config = { temporal: { configured }, home: '/nowhere' };
    await warnOfEmbedded(config, { notice: (text) => notices.push(text) }, async () => status);
    return notices.length;
  };
  expect(await warnings(false, { kept: false, foreground: false })).toBe(1);
  expect(await warnings(false, undefined)).toBe(1);
  expect(await warnings(false, { kept: true, foreground: false })).toBe(0);
  expect(await warnings(false, { kept: false, foreground: true })).toBe(0);
  expect(await warnings(true, undefined)).toBe(0);
});
