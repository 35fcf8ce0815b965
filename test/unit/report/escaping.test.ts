import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ItemResult } from '../../../src/protocol/fanout/fanout-result.js';
import { type FanoutReportData, renderFanoutReport } from '../../../src/report/index.js';
import { escapeHtml, html, jsonForScript } from '../../../src/report/markup.js';
import type { PageDetails } from '../../../src/report/page-data.js';
import { plainText } from '../../../src/report/plain-text.js';
import { lastDrawn } from '../../../src/texts/terminal-text.js';
import { hostileText } from './hostile.js';
import { sampleBatch } from './sample-batch.js';

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

describe('JSON in a script element', () => {
  test('is restored exactly, and contains nothing that ends the element', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const written = jsonForScript({ [text]: text });
        expect(written).not.toMatch(/[<>&\u2028\u2029]/);
        expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify({ [text]: text })));
      }),
    );
  });
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
  const calm = sampleBatch(5);
  const calmTags = tagsOf(renderFanoutReport(calm));

  test('has the same elements as one of harmless texts, and contains every answer as text', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const page = renderFanoutReport(withTexts(calm, text));
        expect(tagsOf(page)).toEqual(calmTags);
        const [first] = detailsOf(page);
        expect(first?.prompts[0]?.answer).toEqual({ text: plainText(lastDrawn(text)), cut: 0 });
        expect(first?.error?.message.text).toBe(plainText(text));
        expect(first?.files[0]?.preview?.text).toBe(plainText(text));
        expect(first?.earlier).toMatchObject([{ prompt: { text: plainText(text) }, error: { text: plainText(text) } }]);
      }),
      { numRuns: 40 },
    );
  });
});

/** Names of the tags in the order of the document. */
function tagsOf(page: string): string[] {
  return [...page.matchAll(/<(\/?[a-z!][a-z0-9-]*)/gi)].map(([, name = '']) => name);
}

function detailsOf(page: string): PageDetails[] {
  const [, json = '[]'] = /<script type="application\/json" id="details-0">([^<]*)<\/script>/.exec(page) ?? [];
  return JSON.parse(json);
}

/** The batch with `text` in every field that others control. */
function withTexts(data: FanoutReportData, text: string): FanoutReportData {
  const error = { code: text, message: text, status: null, requestId: text, details: null };
  const items = data.items.map((item): ItemResult => {
    if (!item.job) return item;
    const prompts = item.job.prompts.map((prompt) => ({
      ...prompt,
      prompt: text,
      result: text,
      error: text,
      status: text,
    }));
    const files = [{ path: text, size: 1, sha256: null, ref: 'ref', error: text, partial: false, unchanged: null }];
    const replaced = { generation: 1, outcome: 'prompt_failed', machineSeconds: 1, sandboxId: text } as const;
    return {
      ...item,
      earlier: [{ ...replaced, prompt: text, error: text }],
      itemId: text,
      labels: { [text]: text, prompt: text },
      job: { ...item.job, prompts, files, error, sandboxId: text },
    };
  });
  return {
    ...data,
    items,
    previews: new Map([['ref', text]]),
    result: { ...data.result, title: data.result.title && text },
  };
}
