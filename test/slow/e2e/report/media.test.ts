import { describe, expect, test } from 'vitest';
import { sampleBatch } from '../../../unit/report/sample-batch.js';
import { browserPath, reportOpener } from './browser.js';

const title = browserPath ? 'the report everywhere' : 'the report everywhere (skipped: no chromium on the PATH)';
const ground = 'getComputedStyle(document.body).backgroundColor';

describe.skipIf(!browserPath)(title, () => {
  const { open } = reportOpener();

  test('follows the light or dark mode of the system', async () => {
    const page = await open(sampleBatch(3), { colorScheme: 'dark' });
    expect(await page.evaluate(ground)).toBe('rgb(15, 20, 27)');
    await page.emulateMedia({ colorScheme: 'light' });
    expect(await page.evaluate(ground)).toBe('rgb(246, 247, 249)');
  });

  test.each([320, 390, 768, 1_040, 1_920])(
    'does not scroll sideways at a width of %d px, expanded or in comparison',
    async (width) => {
      const page = await open(sampleBatch(24, { matrix: true }), { viewport: { width, height: 700 } });
      const overflow = (selector = 'html'): Promise<unknown> =>
        page.evaluate(
          `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('${selector}'))`,
        );
      expect(await overflow()).toBe(0);
      for (const id of ['failures', 'variants', 'outcomes', 'timeline', 'matrix', 'items'])
        expect(await overflow(`#${id}`)).toBe(0);
      expect(await overflow('.columns')).toBe(0);
      await page.locator('#item-table .open').first().click();
      expect(await overflow()).toBe(0);
      expect(await overflow('#item-body')).toBe(0);
      await page.keyboard.press('Escape');
      await page.locator('.row-head').first().click();
      expect(await page.locator('#compare-dialog').isVisible()).toBe(true);
      expect(await overflow()).toBe(0);
    },
  );

  test('has its summary, outcomes and items without a script', async () => {
    const page = await open(sampleBatch(20), { javaScriptEnabled: false });
    expect(await page.locator('h1').isVisible()).toBe(true);
    expect(await page.locator('#outcomes tbody tr').count()).toBeGreaterThan(1);
    expect(await page.locator('noscript tbody tr').count()).toBe(20);
    expect(await page.locator('#browse').isVisible()).toBe(false);
  });

  test('prints every item in light colours', async () => {
    const page = await open(sampleBatch(400), { colorScheme: 'dark' });
    await page.evaluate(`addEventListener('beforeprint', () => {
      document.body.dataset.printed = document.querySelectorAll('#item-table tbody tr').length;
    })`);
    await page.pdf();
    expect(await page.evaluate('document.body.dataset.printed')).toBe('400');
    await page.emulateMedia({ media: 'print' });
    expect(await page.evaluate('getComputedStyle(document.body).color')).toBe('rgb(23, 32, 43)');
  });

  test('names every control and uses no id twice', async () => {
    const page = await open(sampleBatch(24, { matrix: true }));
    await page.locator('#item-table .open').first().click();
    const problems = await page.evaluate(`[
      ...[...document.querySelectorAll('button, input, [role=img], [role=application], table[id], dialog, section')]
        .filter((found) => !(found.ariaLabel || found.textContent.trim() || found.labels?.[0]?.textContent || found.getAttribute('aria-labelledby')))
        .map((found) => 'no name: ' + found.outerHTML.slice(0, 80)),
      ...[...document.querySelectorAll('[aria-labelledby]')]
        .filter((found) => !document.getElementById(found.getAttribute('aria-labelledby')))
        .map((found) => 'named by nothing: ' + found.outerHTML.slice(0, 80)),
      ...[...document.querySelectorAll('[id]')].filter(({ id }, at, all) => all.findIndex((other) => other.id === id) !== at)
        .map(({ id }) => 'twice: ' + id),
      ...[...document.querySelectorAll('h1')].slice(1).map(() => 'more than one title'),
    ]`);
    expect(problems).toEqual([]);
  });

  test('opens quickly with 5,000 items, shows more on request, and finds one', async () => {
    const page = await open(sampleBatch(5_000));
    const firstPaintMs = (): Promise<unknown> =>
      page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Infinity");
    await expect.poll(firstPaintMs).toBeLessThan(8_000);
    expect(await page.locator('body *').count()).toBeLessThan(6_000);
    await page.locator('#more-button').click();
    expect(await page.locator('#item-table .open').last().textContent()).toBe('case-600');
    await page.locator('#filter-text').fill('case-4321');
    expect(await page.locator('#shown').textContent()).toBe('1 of 5,000 items');
    await page.locator('#item-table .open').click();
    expect(await page.locator('#item-title').textContent()).toBe('case-4321');
  });
});
