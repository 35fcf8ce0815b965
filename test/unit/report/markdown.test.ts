import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { markdownMarkup } from '../../../src/report/markdown-markup.js';
import { hostileText } from './hostile.js';

/** The rendered blocks, without the element around them. */
function rendered(text: string): string {
  return markdownMarkup(text).html.replace(/^<div class="markdown" dir="auto">|<\/div>$/g, '');
}

describe('Markdown of agents', () => {
  test.each([
    ['# One\n### Three', '<h4>One</h4><h5>Three</h5>'],
    ['one\ntwo\n\nthree', '<p>one<br>two</p><p>three</p>'],
    [
      'a **b *c* d** _e_ ~~f~~ `g*`',
      '<p>a <strong>b <em>c</em> d</strong> <em>e</em> <del>f</del> <code>g*</code></p>',
    ],
    ['snake_case_name 2 * 3 * 4 **open', '<p>snake_case_name 2 * 3 * 4 **open</p>'],
    ['- a\n- b\n  - c\n\n1. x\n2. y', '<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul><ol><li>x</li><li>y</li></ol>'],
    ['1. a\n\n   ```js\n   x\n   ```\n2. b', '<ol><li><p>a</p><pre><code>x</code></pre></li><li>b</li></ol>'],
    ['```sh\n# no heading\n\n    <b>\n```\nend', '<pre><code># no heading\n\n    &lt;b&gt;</code></pre><p>end</p>'],
    ['```\nnever closed', '<pre><code>never closed</code></pre>'],
    ['    indented\n\n    code', '<pre><code>indented\n\ncode</code></pre>'],
    ['> a\n> > b', '<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote>'],
    ['a\n\n---\n\nb', '<p>a</p><hr><p>b</p>'],
    [
      '| a | b |\n|---|:-:|\n| 1 | `2` |',
      '<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td><code>2</code></td></tr></tbody></table>',
    ],
    ['a | b\nc', '<p>a | b<br>c</p>'],
  ])('%j', (text, markup) => {
    expect(rendered(text)).toBe(markup);
  });

  test('has links to the web only, and an image is a link', () => {
    expect(
      [
        ...rendered('[a](https://x.test/b) ![c](http://y.test/d.png) see https://z.test/e(f).').matchAll(
          /href="([^"]*)"/g,
        ),
      ].map(([, href]) => href),
    ).toEqual(['https://x.test/b', 'http://y.test/d.png', 'https://z.test/e(f)']);
    for (const text of [
      '[a](javascript:alert(1))',
      '[a](data:text/html,x)',
      '[a](file:///etc/passwd)',
      '[a](//x.test)',
    ])
      expect(rendered(text)).not.toContain('<a');
  });
});

describe('hostile Markdown', () => {
  const pieces = fc.oneof(
    hostileText,
    fc.constantFrom(
      '*',
      '**',
      '_',
      '`',
      '```',
      '[',
      '](',
      ')',
      '!',
      '> ',
      '- ',
      '1. ',
      '|',
      '\n',
      '    ',
      '#',
      '\\',
      'https://x/',
    ),
  );
  const allowed =
    /^<\/?(?:div|h[456]|p|br|hr|pre|code|blockquote|ul|ol|li|table|thead|tbody|tr|th|td|strong|em|del|a)(?: (?:class="markdown" dir="auto"|href="https?:\/\/[^"<>]*" title="[^"<>]*" target="_blank" rel="noopener noreferrer"))?>$/;

  test('creates only the known elements, and loses no letter', () => {
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
        const { html } = markdownMarkup(parts.join(''));
        for (const [tag] of html.matchAll(/<[^>]*>/g)) expect(tag).toMatch(allowed);
        const letters = (text: string): string => text.replace(/[^\p{L}]/gu, '');
        // The address of a link may differ from its text.
        const shown = html.replace(/<a href="([^"]*)"[^>]*>/g, '$1').replace(/<[^>]*>/g, '');
        // Of the text, only the language of a code block is not shown.
        const text = parts.join('').replace(/^([> ]|[-*+] |\d+[.)] )*[`~]{3,} ?[\w+.#-]*/gm, '');
        for (const letter of new Set(letters(text))) expect(shown).toContain(letter);
      }),
    );
  });

  test.each([
    '*',
    '**',
    '_a',
    '`',
    '`` ',
    '[',
    '[a](',
    '![',
    '> ',
    '- ',
    '1. ',
    '|',
    '| - ',
    '#',
    '# ',
    '~~~',
    ' ',
    '- - ',
    'https://',
    '\\',
    '    ',
    '>- ',
    '*a_b~~',
  ])('%j many times takes no long time', (piece) => {
    // Of the processor, which other programs do not lengthen. It takes less than 0.1 s.
    const before = process.cpuUsage();
    rendered(piece.repeat(20_000 / piece.length));
    rendered(`${piece}\n`.repeat(20_000 / (piece.length + 1)));
    rendered(`${`${piece} x `.repeat(40)}\n`.repeat(60));
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(2_000);
  });
});
