import { describe, expect, test } from 'vitest';
import { knownHostile } from '../../../unit/report/hostile.js';
import { sampleBatch } from '../../../unit/report/sample-batch.js';
import { browserPath, reportOpener } from './browser.js';

const title = browserPath ? 'the report in a browser' : 'the report in a browser (skipped: no chromium on the PATH)';

describe.skipIf(!browserPath)(title, () => {
  const { open, complaints } = reportOpener();

  test('opens without a browser error and without any request to a network', async () => {
    const page = await open(sampleBatch(60));
    expect(await page.locator('#item-table tbody tr').count()).toBe(60);
  });

  test('detects what the policy forbids', async () => {
    const page = await open(sampleBatch(3));
    await page.evaluate(
      "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=alert(1)><i style=color:red>')",
    );
    await expect.poll(() => complaints().length).toBeGreaterThan(1);
    complaints().splice(0);
  });

  test('shows hostile answers as text in the table, expanded and in comparison', async () => {
    const data = sampleBatch(4, { outcome: 'completed', answer: () => knownHostile });
    const items = data.items.map((item, at) => ({
      ...item,
      itemId: `${at} ${knownHostile}`,
      labels: { x: knownHostile },
    }));
    const page = await open({ ...data, items, result: { ...data.result, title: knownHostile } });
    const foreign = page.locator('img, b, body svg[onload], iframe, [onmouseover], [onerror]');
    await page.locator('#item-table .open').first().click();
    const answer = page.locator('#item-body pre:not(.quiet)').first();
    expect(await answer.textContent()).toContain('<img src=x onerror=alert(1)>');
    expect(await foreign.count()).toBe(0);
    await page.keyboard.press('Escape');
    for (const place of [0, 1]) await page.locator('#item-table .choice input').nth(place).click();
    await page.locator('#compare-button').click();
    expect(await page.locator('#compare-body').textContent()).toContain('</script><script>alert(1)</script>');
    expect(await foreign.count()).toBe(0);
  });

  test('shows the attempts that newer ones have replaced, as text, with what each cost', async () => {
    const data = sampleBatch(2, { outcome: 'completed' });
    const attempt = { generation: 1, outcome: 'prompt_failed', machineSeconds: 42, sandboxId: 'bx_2345abcd' } as const;
    const earlier = [{ ...attempt, prompt: knownHostile, error: 'it exited with 3' }];
    const page = await open({ ...data, items: data.items.map((item) => ({ ...item, generation: 2, earlier })) });
    await page.locator('#item-table .open').first().click();
    const tries = page.locator('#item-body details').filter({ hasText: 'Try 1' });
    expect(await tries.locator('summary').innerText()).toMatch(/Try 1.*42 s.*bx_2345abcd/s);
    await tries.locator('summary').click();
    expect(await tries.innerText()).toContain('it exited with 3');
    expect(await tries.locator('pre.quiet').textContent()).toContain('<img src=x onerror=alert(1)>');
  });

  test('shows an answer as text with its lines, and the items of one failure', async () => {
    const page = await open(sampleBatch(60));
    await page.locator('#item-table .open').first().click();
    expect(await page.locator('#item-body pre:not(.quiet)').first().innerText()).toContain('\n1. `totals.ts` adds');
    await page.keyboard.press('Escape');
    const group = page.locator('.failures li').first();
    const count = await group.locator('.count').textContent();
    await group.locator('button').click();
    expect(await page.locator('#shown').textContent()).toBe(`${count} of 60 items`);
    // A single item opens.
    await page.keyboard.press('Escape');
    await page.locator('#failure-filter').click();
    expect(await page.locator('#shown').textContent()).toBe('60 items');
  });

  test('has an address for each item, which opens it, and none once it is closed', async () => {
    const page = await open(sampleBatch(12));
    await page.locator('#item-table .open').nth(2).click();
    expect(page.url()).toMatch(/#case-3$/);
    await page.locator('#item-next').click();
    expect(page.url()).toMatch(/#case-4$/);
    await page.reload();
    expect(await page.locator('#item-title').textContent()).toBe('case-4');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.url()).not.toContain('#');
    await page.evaluate("location.hash = 'case-7'");
    await expect.poll(() => page.locator('#item-title').textContent()).toBe('case-7');
  });

  test('of a batch without forks has no items, and its script has no complaint', async () => {
    const { result, ...rest } = sampleBatch(1);
    const counts = { ...result.counts, items: 0, completed: 0, failed: 0, byOutcome: {} };
    const page = await open({ ...rest, items: [], result: { ...result, counts } });
    expect(await page.locator('section:visible h2').allTextContents()).toEqual(['Cost']);
  });

  test('works with the keyboard alone', async () => {
    const page = await open(sampleBatch(60));
    const focus = page.locator(':focus');
    await page.keyboard.press('Tab');
    expect(await focus.textContent()).toBe('Skip to the items');
    await page.locator('#item-table .open').nth(1).focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    expect(await page.locator('#shown').textContent()).toBe('60 items · 1 selected');
    await page.keyboard.press('Tab');
    expect(await focus.textContent()).toBe('case-3');
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
    await page.keyboard.press('Enter');
    expect(await page.locator('#item-title').textContent()).toBe('case-3');
    await page.locator('#item-next').press('Enter');
    expect(await page.locator('#item-title').textContent()).toBe('case-4');
    await page.keyboard.press('Escape');
    expect(await focus.textContent()).toBe('case-3');
  });

  test('filters by text, including answers, and by outcome, and sorts', async () => {
    const page = await open(sampleBatch(60, { answer: (index) => (index === 41 ? '\nNeedle in Haystack' : '') }));
    await page.locator('#filter-text').fill('needle haystack');
    expect(await page.locator('#shown').textContent()).toBe('1 of 60 items');
    expect(await page.locator('#item-table .open').textContent()).toBe('case-42');
    await page.locator('#filter-text').fill('');
    await page.locator('#filter-outcomes [data-outcome=sandbox_failed]').click();
    expect(await page.locator('#item-table tbody .outcome').allTextContents()).toEqual(['▲ sandbox failed']);
    await page.locator('#filter-outcomes [data-outcome=sandbox_failed]').click();
    await page.locator('#item-table th.took button').click();
    await page.locator('#item-table th.took button').click();
    expect(await page.locator('#item-table th.took').getAttribute('aria-sort')).toBe('descending');
    expect(await page.locator('#item-table td.took').first().textContent()).toBe('4 m 12 s');
  });

  test('compares items side by side and marks differences', async () => {
    const page = await open(sampleBatch(24, { matrix: true, outcome: 'completed' }));
    expect(await page.locator('#compare-button').isDisabled()).toBe(true);
    for (const place of [0, 1]) await page.locator('#item-table .choice input').nth(place).click();
    await page.locator('#compare-button').click();
    const marks = page.locator('#compare-body mark');
    expect(await marks.allTextContents()).toEqual(expect.arrayContaining(['240', '241']));
    const rows = await page.locator('.compare-row.same').count();
    await page.locator('#compare-only').check();
    expect([rows > 5, await page.locator('.compare-row.same').count()]).toEqual([true, 0]);
    await page.locator('#compare-dialog .close').click();
    await page.locator('.row-head').nth(2).click();
    expect(await page.locator('.compare .head strong').allTextContents()).toEqual([
      '3/small/low',
      '3/small/high',
      '3/large/high',
    ]);
    await page.keyboard.press('Escape');
    await page.locator('#clear-button').click();
    expect(await page.locator('#shown').textContent()).toBe('24 items');
  });
});
