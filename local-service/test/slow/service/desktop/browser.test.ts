/** The desktop of a sandbox in a headless browser. */
import { chromium, type Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findChromium } from '../../../../../scripts/find-chromium.mjs';
import { findDesktop } from '../../../../src/machine/desktop/find-desktop.js';
import { defaultProgramPath, findProgram } from '../../../../src/machine/program.js';
import { usableIsolations } from '../../../service/machine/machine-fixture.js';
import { apiKey, startService } from '../../../service/service-under-test.js';

const executablePath = findChromium();
const { missing } = await findDesktop({ programPath: defaultProgramPath, hasOwnNetwork: true });
const lacks = [
  ...missing,
  ...(executablePath ? [] : ['chromium']),
  ...((await findProgram('xterm', defaultProgramPath)) ? [] : ['xterm']),
  ...(usableIsolations.includes('bubblewrap') ? [] : ['bubblewrap']),
];
const title = `a desktop in a browser${lacks.length === 0 ? '' : ` (skipped: no ${lacks.join(', ')})`}`;

async function openPage(): Promise<Page> {
  const browser = await chromium.launch({ executablePath: executablePath ?? '', args: ['--no-sandbox'] });
  onTestFinished(() => browser.close());
  return await browser.newPage();
}

/** How many points of the screen are orange. The types of a browser are not those of this project. */
const orangePoints = (page: Page): Promise<number> =>
  page.evaluate(`(() => {
    const canvas = document.querySelector('canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let found = 0;
    for (let at = 0; at < data.length; at += 4) {
      if (data[at] === 0xff && data[at + 1] === 0x88 && data[at + 2] === 0) found += 1;
    }
    return found;
  })()`);

describe.skipIf(lacks.length > 0)(title, () => {
  it('shows a window that a command has opened, and nothing without the token', async () => {
    const under = await startService({ isolation: 'bubblewrap' });
    const id = await under.ready();
    const opened = await under.call('POST', `/sandboxes/${id}/desktop`);
    expect(opened.status).toBe(200);
    const { url } = opened.body as unknown as { url: string };
    const page = await openPage();
    await page.goto(url);
    await expect.poll(() => page.title()).toBe('Desktop (connected)');
    expect(page.url()).not.toContain('_token');
    expect(await orangePoints(page)).toBe(0);
    const command = 'xterm -bg "#ff8800" >/dev/null 2>&1 &';
    await under.call('POST', `/sandboxes/${id}/commands`, { body: { command } });
    await expect.poll(() => orangePoints(page)).toBeGreaterThan(10_000);

    const stranger = await openPage();
    const bare = new URL(url);
    for (const search of ['', '?_token=wrong', `?_token=${apiKey}`]) {
      bare.search = search;
      expect((await stranger.goto(bare.href))?.status()).toBe(401);
      expect(await stranger.locator('canvas').count()).toBe(0);
    }
    await under.archive(id);
    await expect.poll(() => page.title()).toMatch(/disconnected/);
  });
});
