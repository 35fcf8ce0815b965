import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { FanoutProgress } from '../../../src/protocol/fanout/fanout-progress.js';
import type { ItemResult } from '../../../src/protocol/fanout/fanout-result.js';
import { pageOf, type SampleBatch, sampleBatch } from './sample-batch.js';

const page = pageOf(sampleBatch(30));

describe('the document', () => {
  test('allows only its own style, and no script', () => {
    const [, policy = ''] = /Content-Security-Policy" content="([^"]+)"/.exec(page) ?? [];
    const [, style = ''] = /<style>([\s\S]*?)<\/style>/.exec(page) ?? [];
    expect(policy.replaceAll('&#39;', "'").split('; ')).toEqual([
      "default-src 'none'",
      `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
      "base-uri 'none'",
      "form-action 'none'",
    ]);
    expect(page).not.toMatch(/<script|\son\w+=/i);
  });

  test('contains no address that a browser would request', () => {
    expect(page).not.toMatch(/https?:\/\/|@import|url\(|\ssrc=|\sstyle=|<link|<iframe/);
  });

  test('links only to items that it has', () => {
    const targets = [...page.matchAll(/\shref="#([^"]*)"/g)].map(([, target = '']) => decodeURIComponent(target));
    expect(targets.length).toBeGreaterThan(0);
    for (const target of targets) expect(page).toContain(`id="${target}"`);
    expect([...page.matchAll(/\shref="([^"#]*)/g)].filter(([, target]) => target !== '')).toEqual([]);
  });

  test('uses the place of an item once, in its details, so that its address opens them', () => {
    expect(page.match(/<div class="details" id="case-30">/g)).toHaveLength(1);
  });

  test('has outcome, time, counts and a row for each item', () => {
    expect(page).toMatch(/<\/span> partly failed<\/span>/);
    expect(page).toContain('2026-03-01 09:00:00 UTC');
    expect(page.match(/<summary class="row">/g)).toHaveLength(30);
    expect(page).toMatch(/completed<\/span><\/th><td class="number">\d+<\/td>/);
  });
});

describe('a batch', () => {
  test('that is running is shown with its progress', () => {
    const { result, items, ...rest } = sampleBatch(10);
    const counts = { ...result.counts, items: 12, queued: 1, running: 1 };
    const progress: FanoutProgress = { ...result, outcome: null, phase: 'running', sealed: false, counts };
    const running = pageOf({ ...rest, items, result: onlyProgress(progress) });
    expect(running).toContain('still running');
    expect(running).toContain('12 items, more to come');
    expect(running).toContain('queued or running');
    expect(running).toContain('<dt>Running for</dt>');
  });

  test('that has ended lasts until its end, also in a report that is written later', () => {
    const { result, items, ...rest } = sampleBatch(10);
    const ended = onlyProgress({ ...result, phase: 'ended' });
    const later = pageOf({ ...rest, items, result: ended, generatedAt: '2026-03-09T09:00:00.000Z' });
    const took = (text: string) => /<dt>Took<\/dt><dd><bdi>([^<]*)/.exec(text)?.[1];
    expect(took(later)).toBe(took(pageOf({ ...rest, items, result })));
    expect(took(later)).toMatch(/ m /);
  });

  test('shows its source only if it is a sandbox', () => {
    const { result, ...rest } = sampleBatch(3);
    const shown = (sourceSandboxId: string | null) => pageOf({ ...rest, result: { ...result, sourceSandboxId } });
    expect(shown('bx_2345abcd')).toContain('<dt>Source</dt><dd><bdi>bx_2345abcd');
    expect(shown(null)).not.toContain('<dt>Source</dt>');
  });

  test('without any known data has a page too, without empty panels', () => {
    const { result, ...rest } = sampleBatch(1);
    const counts = { ...result.counts, items: 0, completed: 0, failed: 0, byOutcome: {} };
    const budget = { limitSeconds: null, spentSeconds: 0, reservedSeconds: 0 };
    const empty = pageOf({ ...rest, items: [], result: { ...result, counts, budget } });
    expect(empty).toContain('No item has a result.');
    expect(empty).not.toContain('<h2>');
  });

  test('says why it ended, and what it and its items left behind, once each', () => {
    const { result, items, ...rest } = sampleBatch(3);
    const error = { code: 'sandbox_not_found', message: 'The source is gone.', ...{ status: 404, requestId: null } };
    const left = (sandboxId: string) =>
      ({ kind: 'sandbox', sandboxId, sandboxName: null, conversationId: null, why: 'It did not stop.' }) as const;
    const [first, ...others] = items as [ItemResult, ...ItemResult[]];
    const own = first.job && { ...first, job: { ...first.job, left: [left('sbx_item')] } };
    const shown = pageOf({
      ...rest,
      items: [own ?? first, ...others],
      result: { ...result, error: { ...error, details: null }, left: [left('sbx_source'), left('sbx_item')] },
    });
    expect(shown).toContain('sandbox_not_found: The source is gone.');
    expect(shown).toContain('2 leftovers need attention');
    expect(shown).toContain('the sandbox sbx_source may still be running: It did not stop.');
    expect(shown.indexOf('Left behind')).toBeLessThan(shown.indexOf('<h2>Outcomes'));
  });

  test('that completed and lacks a file does not look as if all were well', () => {
    const { result, ...rest } = sampleBatch(3, { outcome: 'completed' });
    expect(pageOf({ ...rest, result })).toMatch(/<strong><span class="good">.*> completed<\/span><\/strong>/);
    expect(pageOf({ ...rest, result: { ...result, shortfall: '1 file missing' } })).toMatch(
      /<strong><span class="warn">.*> completed, 1 file missing<\/span><\/strong>/,
    );
  });
});

describe('an item', () => {
  const batch = sampleBatch(1, { outcome: 'completed' });
  const [item] = batch.items as [ItemResult];
  const changed = (change: Partial<ItemResult>, job: Partial<NonNullable<ItemResult['job']>> = {}): SampleBatch => ({
    ...batch,
    items: [{ ...item, ...change, job: item.job && { ...item.job, ...job } }],
  });

  test('has its answer as a terminal shows it in the end', () => {
    const prompts = item.job?.prompts.map((prompt) => ({ ...prompt, result: '10 %\r100 %\n\u001b[32mPASS\u001b[0m' }));
    expect(pageOf(changed({}, { prompts }))).toContain('<pre dir="auto">100 %\nPASS</pre>');
  });

  test('shows its prompts, its error, its times, how its fork ended and what a collected text contains', () => {
    const shown = pageOf(changed({ outcome: 'prompt_failed' }, { error: errorOf('exit_code', 'It exited with 3.') }));
    for (const text of [
      '<code>exit_code</code>',
      'It exited with 3.',
      '<dt>Forked</dt>',
      'stop completed, work saved',
      '# Notes of case-1\n',
      '<bdi>out/patch.diff</bdi> <span class="note">4.8 kB</span>',
      'no such file',
    ])
      expect(shown).toContain(text);
  });

  test('shows the attempts that newer ones have replaced, with what each cost', () => {
    const attempt = { generation: 1, outcome: 'prompt_failed', machineSeconds: 42, sandboxId: 'bx_2345abcd' } as const;
    const earlier = [{ ...attempt, prompt: 'the first prompt', error: 'it exited with 3' }];
    const shown = pageOf(changed({ generation: 2, earlier }), { dollarsPerSecond: 0.01 });
    expect(shown).toMatch(/Try 1 .*prompt failed.*42 s, \$0\.4200, <bdi>bx_2345abcd<\/bdi>/);
    expect(shown).toContain('the first prompt</pre>');
    expect(shown).toContain('it exited with 3</pre>');
    expect(shown).toContain('try 2');
  });

  test('links to the files that are saved beside the page, whatever they are called', () => {
    const link = (place: string) => pageOf(batch, {}, new Map([['out/notes.md', place]]));
    expect(link('files/case-1/out/notes.md')).toContain(
      '<a href="files/case-1/out/notes.md" rel="noopener noreferrer">',
    );
    expect(link('files/ä b/#c?.md')).toContain('href="files/%C3%A4%20b/%23c%3F.md"');
    expect(link('files/half \ud800.md')).toContain('href="files/half%20%EF%BF%BD.md"');
    expect(pageOf(batch)).not.toContain('href="files');
  });

  test('links to no file that a browser would run', () => {
    const linked = (name: string): boolean =>
      pageOf(batch, {}, new Map([['out/notes.md', `files/${name}`]])).includes(`href="files/${name}"`);
    // Chromium runs the scripts of each of these.
    const pages = 'html HTML htm shtml shtm ehtml xht xhtm xhtml svg svgz xml xsl xbl atom rss mhtml pdf'.split(' ');
    expect([...pages.map((end) => `a.${end}`), '.html', 'page', 'a.txt.html', 'a.unheard-of'].filter(linked)).toEqual(
      [],
    );
    expect(['a.txt', 'a.MD', 'a.json', 'a.diff', 'a.png', 'html.log'].filter(linked)).toHaveLength(6);
  });

  test('links to its workflow where the UI has an address of the web', () => {
    const ui = { url: 'http://127.0.0.1:8233/', namespace: 'default', deployment: 'main' };
    const shown = pageOf(batch, { ui });
    expect(shown).toContain('href="http://127.0.0.1:8233/namespaces/default/workflows/sf-main-nightly-review"');
    expect(shown).toMatch(
      /href="http:\/\/127\.0\.0\.1:8233\/namespaces\/default\/workflows\/[^"]+" [^>]+><bdi>open in/,
    );
    expect(pageOf(batch, { ui: { ...ui, url: 'javascript:alert(1)//' } })).not.toContain('alert(1)');
  });
});

function errorOf(code: string, message: string): NonNullable<ItemResult['job']>['error'] {
  return { code, message, status: null, requestId: null, details: null };
}

/** Without the fields that exist only after the end of a batch. */
function onlyProgress(progress: FanoutProgress): FanoutProgress {
  const { apiCalls, durationMs, left, leftMore, leftSandboxIds, resultsRef, ...rest } = progress as FanoutProgress &
    Record<string, unknown>;
  return rest as FanoutProgress;
}
