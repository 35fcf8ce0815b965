/**
 * Shows an answer as Markdown, or as plain text.
 * @typedef {import('../markdown/markdown.js').MarkdownNode} MarkdownNode
 */
import { element } from '../dom.js';
import { parseMarkdown } from '../markdown/markdown.js';

/**
 * Creates elements from Markdown. The text never becomes markup: the parser names the tags, and only links have an
 * attribute.
 * @param {string} text
 */
export function markdownBlock(text) {
  return element('div', { class: 'markdown', dir: 'auto' }, ...parseMarkdown(text).map(asNode));
}

/** @param {MarkdownNode} node @returns {Node | string} */
function asNode(node) {
  if (typeof node === 'string') return node;
  const { tag, href, children } = node;
  /** @type {Record<string, string>} */
  const link = href === undefined ? {} : { href, title: href, target: '_blank', rel: 'noopener noreferrer' };
  return element(tag, link, ...children.map(asNode));
}

/** Connects the buttons that switch between Markdown and text. @param {ParentNode} within */
export function startAnswerSwitches(within) {
  for (const button of within.querySelectorAll('.answer button.switch')) {
    if (!(button instanceof HTMLElement)) continue;
    button.hidden = false;
    button.addEventListener('click', () => {
      const answer = button.closest('.answer');
      const [markdown, text] = [answer?.querySelector('.markdown'), answer?.querySelector('.raw')];
      if (!(markdown instanceof HTMLElement && text instanceof HTMLElement)) return;
      markdown.hidden = !markdown.hidden;
      text.hidden = !markdown.hidden;
      button.textContent = markdown.hidden ? 'Show as Markdown' : 'Show as text';
    });
  }
}
