import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ItemResult } from '../../../src/protocol/fanout/fanout-result.js';
import type { FailureClass } from '../../../src/protocol/result-error-codes.js';
import { escapeHtml, html, link } from '../../../src/report/markup.js';
import { plainText } from '../../../src/report/plain-text.js';
import { lastDrawn } from '../../../src/texts/terminal-text.js';
import { hostileText } from './hostile.js';
import { pageOf, type SampleBatch, sampleBatch } from './sample-batch.js';

describe('a value in a template', () => {
  test('never becomes markup, in text or in an attribute', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(escapeHtml(text)).not.toMatch(/[<>"']/);
        expect(html`<b title="${text}">${[text, null]}</b>`.html).toBe(
          `<b title="${escapeHtml(text)}">${escapeHtml(text)}</b>`,
        );
      }),
    );
  });
});

test.each([
  'javascript:alert(1)',
  'JAVASCRIPT:alert(1)//x/',
  'data:text/html,x',
  'file:///etc/passwd',
  '//host/x',
  '\\\\host\\x',
  ' javascript:x',
  'vbscript:x/',
  '',
])('there is no link to %j', (target) => {
  expect(link(target, 'name').html).toBe('<bdi>name</bdi>');
});

test('text has no control characters, terminal colours or direction marks', () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      const shown = plainText(text);
      expect(shown).not.toMatch(/[^\P{Cc}\t\n]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u);
      expect(Buffer.from(shown).toString()).toBe(shown);
    }),
  );
  expect(plainText('\u001b[1;31mred\u001b[0m and \u001b]8;;https://x\u0007link\u001b]8;;\u0007')).toBe('red and link');
  expect(plainText('a\r\nb\rc\u0000\u202ed')).toBe('a\nb␍c␀[U+202E]d');
  expect(plainText('שלום, 世界, 🎈 e\u0301')).toBe('שלום, 世界, 🎈 e\u0301');
});

describe('a report of hostile texts', () => {
  const calm = sampleBatch(5, { matrix: true });

  test('has the tags and attributes of one of harmless texts, and contains every text as text', () => {
    const harmless = tagsOf(shownWith(calm, 'calm'));
    fc.assert(
      fc.property(hostileText, (text) => {
        const page = shownWith(calm, text);
        expect(tagsOf(page)).toEqual(harmless);
        const block = (shown: string) => `<pre dir="auto">${escapeHtml(plainText(shown))}</pre>`;
        expect(page).toContain(block(lastDrawn(text)));
        expect(page).toContain(block(text));
        expect(page).toContain(`<h1 dir="auto">${escapeHtml(plainText(text))}</h1>`);
      }),
      { numRuns: 100 },
    );
  });
});

/** Every tag in the order of the document, with the names of its attributes. Texts must not open another one. */
function tagsOf(page: string): string[] {
  return [...page.matchAll(/<[^>]*>?/g)].map(([tag]) => tag.replace(/="[^"]*"/g, '=""'));
}

/** The page of the batch with `text` in every field that others control. */
function shownWith(data: SampleBatch, text: string): string {
  const error = { code: text, message: text, status: null, requestId: text, details: null };
  const left = [{ kind: 'prompt', sandboxId: text, sandboxName: text, conversationId: text, why: text }] as const;
  const items = data.items.map((item, at): ItemResult => {
    const job = item.job ?? data.items.find((other) => other.job)?.job;
    if (!job) throw new Error('the sample has no job');
    const texts = { prompt: text, result: text, error: text, status: text };
    const check = { command: text, exitCode: 1, output: `${text}.`, durationMs: 1 };
    const replaced = { generation: 1, outcome: 'prompt_failed', machineSeconds: 1, sandboxId: text } as const;
    return {
      ...item,
      // Not empty, so that there is always a place to link to.
      itemId: `${at}${text}`,
      outcome: 'prompt_failed',
      // Of a later version, which knows more of them.
      failureClass: `${text}.` as FailureClass,
      earlier: [{ ...replaced, prompt: text, error: text }],
      labels: { [`${text}.`]: `${text}.`, prompt: `${text}.`, model: `m${at % 2}${text}` },
      job: {
        ...job,
        prompts: job.prompts.map((prompt) => ({ ...prompt, ...texts })),
        rounds: [{ round: 1, passed: false, promptIndex: null, runs: [check] }],
        files: [{ path: text, size: 1, sha256: null, ref: 'ref', error: text, partial: false, unchanged: null }],
        error,
        left,
        sandboxId: text,
        sandboxName: text,
        stop: { stopId: text, status: text, kept: null, error: text },
      },
    };
  });
  const result = { ...data.result, title: text, batchId: text, sourceSandboxId: text, error, left, shortfall: text };
  const previews = new Map([['ref', text]]);
  const ui = { url: 'http://127.0.0.1:1', namespace: text.replace(/[\ud800-\udfff]/g, ''), deployment: 'main' };
  const saved = new Map([[text, `files/${text}.txt`]]);
  return pageOf(
    { ...data, items, previews, result: { ...result, blocked: { since: text, message: text } } },
    { ui },
    saved,
  );
}
