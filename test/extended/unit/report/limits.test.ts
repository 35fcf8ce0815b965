import { describe, expect, test } from 'vitest';
import { createFanoutReport } from '../../../../src/report/fanout-report.js';
import { pageOf, sampleBatch } from '../../../unit/report/sample-batch.js';

describe('a report', () => {
  test('cuts a long answer at 20,000 characters and says so', () => {
    const page = pageOf(sampleBatch(1, { outcome: 'completed', answer: () => 'x'.repeat(100_000) }));
    expect(page.length).toBeLessThan(60_000);
    expect(page).toContain('x…</pre>');
    expect(page).toMatch(/… 80,\d{3} more characters are not in this report/);
    expect(page).toContain('A text is cut at 20,000 characters');
  });

  test('has a row for each of 10,000 items of any size, stays below 40 MB, and says which details it left out', () => {
    const page = pageOf(sampleBatch(10_000, { outcome: 'completed', answer: () => '<&>'.repeat(5_000) }));
    expect(Buffer.byteLength(page)).toBeLessThan(40_000_000);
    expect(page.match(/class="row"/g)).toHaveLength(10_000);
    const open = page.match(/<summary/g)?.length ?? 0;
    expect(page).toContain(`${(10_000 - open).toLocaleString('en')} items have no details here`);
  });

  test('has the details of failures that come after thousands of others', () => {
    const { result, items, previews } = sampleBatch(3_000, { outcome: 'completed' });
    const report = createFanoutReport(result, previews);
    for (const item of items) report.add(item);
    for (const item of sampleBatch(1, { outcome: 'prompt_failed' }).items) report.add({ ...item, itemId: 'last' });
    const page = report.render();
    expect(page.match(/<summary/g)).toHaveLength(1_001);
    expect(page).toContain('<div class="details" id="last">');
  });
});
