import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { FanoutProgress } from '../../../src/protocol/fanout/fanout-progress.js';
import { type FanoutReportData, renderFanoutReport } from '../../../src/report/index.js';
import { repository } from '../house/source-imports.js';
import { sampleBatch } from './sample-batch.js';

const page = renderFanoutReport(sampleBatch(30));

describe('the document', () => {
  test('allows only its own style and script', () => {
    const [, policy = ''] = /Content-Security-Policy" content="([^"]+)"/.exec(page) ?? [];
    const digest = (tag: string): string => {
      const [, text = ''] = new RegExp(`<${tag}>([\\s\\S]*?)</${tag.split(' ')[0]}>`).exec(page) ?? [];
      return `sha256-${createHash('sha256').update(text).digest('base64')}`;
    };
    expect(policy.replaceAll('&#39;', "'").split('; ')).toEqual([
      "default-src 'none'",
      `style-src '${digest('style')}'`,
      `script-src '${digest('script type="module"')}'`,
      "base-uri 'none'",
      "form-action 'none'",
    ]);
  });

  test('contains no address that a browser would request', () => {
    expect(page).not.toMatch(/https?:\/\/|@import|url\(|\ssrc=|\sstyle=|<link|<iframe/);
    expect([...page.matchAll(/\shref="([^"]*)"/g)].map(([, target]) => target)).toEqual(['#items']);
  });

  test('has summary, outcomes and items in its HTML', () => {
    const [withoutData = ''] = page.split('<script');
    expect(withoutData).toContain('Partly failed');
    expect(withoutData).toContain('2026-03-01 09:00:00 UTC');
    expect(withoutData).toContain('case-30</th>');
    expect(withoutData).toMatch(/completed<\/span><\/th>\s*<td class="number">\d+<\/td>/);
  });
});

describe('a batch', () => {
  test('that is running is shown with its progress', () => {
    const { result, items, ...rest } = sampleBatch(10);
    const counts = { ...result.counts, items: 12, queued: 1, running: 1 };
    const progress: FanoutProgress = { ...result, outcome: null, phase: 'running', sealed: false, counts };
    const running = renderFanoutReport({ ...rest, items, result: onlyProgress(progress) });
    expect(running).toContain('Still running');
    expect(running).toContain('12 items, more to come');
    expect(running).toContain('queued or running');
  });

  test('that has ended lasts until its end, also in a report that is written later', () => {
    const { result, items, ...rest } = sampleBatch(10);
    const ended = onlyProgress({ ...result, phase: 'ended' });
    const later = renderFanoutReport({ ...rest, items, result: ended, generatedAt: '2026-03-09T09:00:00.000Z' });
    const took = (text: string) => /<dt>Took<\/dt><dd>([^<]*)/.exec(text)?.[1];
    expect(took(later)).toBe(took(renderFanoutReport({ ...rest, items, result })));
  });

  test('shows its source only if it is a sandbox, and counts failures apart from what was left out', () => {
    const { result, ...rest } = sampleBatch(3);
    const shown = (sourceSandboxId: string | null) =>
      renderFanoutReport({ ...rest, result: { ...result, sourceSandboxId } });
    expect(shown('bx_2345abcd')).toContain('<dt>Source</dt><dd>bx_2345abcd');
    expect(shown(null)).not.toContain('<dt>Source</dt>');
    expect(shown(null)).not.toContain('Not completed');
  });

  test('without any known data has a report too, without empty panels', () => {
    const { result, ...rest } = sampleBatch(1);
    const counts = { ...result.counts, items: 0, completed: 0, failed: 0, byOutcome: {} };
    const budget = { limitSeconds: null, spentSeconds: 0, reservedSeconds: 0 };
    const empty = renderFanoutReport({ ...rest, items: [], result: { ...result, counts, budget } });
    const [shown = ''] = empty.split('<script');
    expect(shown).toContain('No item has a result.');
    for (const title of ['Durations', 'Outcomes', 'Cost', 'Running forks', 'Matrix'])
      expect(shown).not.toContain(`>${title}`);
    expect(shown).toMatch(/id="items"[^>]* hidden/);
  });

  test('shows what is left and why it ended', () => {
    const { result, ...rest } = sampleBatch(3);
    const error = {
      code: 'sandbox_not_found',
      message: 'The source is gone.',
      status: 404,
      requestId: null,
      details: null,
    };
    const left = renderFanoutReport({
      ...rest,
      result: { ...result, error, left: [{ sandboxId: 'sbx_left' }], leftMore: 0 } as unknown as typeof result,
    });
    expect(left).toContain('sandbox_not_found: The source is gone.');
    expect(left).toContain('1 leftover needs attention: sbx_left');
  });
});

test('the script of the page is checked against the content of the page', () => {
  const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
  const args = [tsc, '-p', join(repository, 'src/report/browser')];
  const { stdout, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect(stdout).toBe('');
  expect(status).toBe(0);
});

/** Without the fields that exist only after the end of a batch. */
function onlyProgress(progress: FanoutProgress): FanoutReportData['result'] {
  const { apiCalls, durationMs, left, leftMore, leftSandboxIds, resultsRef, ...rest } = progress as FanoutProgress &
    Record<string, unknown>;
  return rest as FanoutProgress;
}
