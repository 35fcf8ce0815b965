/** The document of a report: one self-contained file, which loads nothing from any network. */
import { createHash } from 'node:crypto';
import { scriptText, styleText } from './assets.js';
import { html, jsonForScript, Markup } from './markup.js';
import { paletteCss } from './palette.js';

/**
 * The document around the body of a page. It allows only its own style and script.
 * @param script name of the module in `browser/` that starts the page; a page without one runs no script
 */
export function documentOf(title: string, body: Markup, script?: string): string {
  const style = `${paletteCss()}\n${styleText()}`;
  const code = script === undefined ? null : scriptText(script);
  const scripts = code === null ? '' : ` script-src '${digest(code)}';`;
  const policy = `default-src 'none'; style-src '${digest(style)}';${scripts} base-uri 'none'; form-action 'none'`;
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="referrer" content="no-referrer"><meta name="color-scheme" content="light dark">
<title>${title}</title><style>${new Markup(style)}</style></head>
<body>${body}
${code === null ? null : html`<script type="module">${new Markup(code)}</script>`}</body></html>
`;
  return page.html;
}

/** Data for the page's script. */
export function dataBlock(id: string, value: unknown): Markup {
  return html`<script type="application/json" id="${id}">${new Markup(jsonForScript(value))}</script>`;
}

function digest(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
