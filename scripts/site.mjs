// Renders docs/ and the documents of the repository's root as a static site: node scripts/site.mjs [--out FOLDER].
// The default folder is site/. The script fails if a link leads to a page, a heading or a file that does not exist.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Marked } from 'marked';

const root = fileURLToPath(new URL('../', import.meta.url));
const defaultFolder = join(root, 'site');
const { values } = parseArgs({ options: { out: { type: 'string', default: defaultFolder } } });
const out = resolve(values.out);

/** The documents in the repository's root. Documents in docs/ link to them. */
const projectDocuments = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'];
const documents = [
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .map((path) => posix.join('docs', path.replaceAll('\\', '/')))
    .filter((path) => path.endsWith('.md'))
    .sort(),
  ...projectDocuments,
];

/**
 * The page of a document: run.html for docs/run.md, index.html for docs/README.md, project/readme.html for README.md.
 */
function pageOf(document) {
  if (!document.startsWith('docs/')) return `project/${document.toLowerCase().replace(/md$/, 'html')}`;
  return document
    .slice('docs/'.length)
    .replace(/README\.md$/, 'index.md')
    .replace(/md$/, 'html');
}

const escapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeHtml = (text) => text.replace(/[&<>"]/g, (character) => escapes[character]);
const withoutTags = (html) => html.replace(/<[^>]*>/g, '');

/** Creates ids of headings as GitHub does. A repeated heading gets a number. */
function createSlugs() {
  const used = new Map();
  return (text) => {
    const slug = text
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
    const count = used.get(slug) ?? 0;
    used.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  };
}

const markdown = new Marked();
const plainText = (tokens) =>
  tokens.map((token) => (token.tokens ? plainText(token.tokens) : (token.text ?? ''))).join('');

/** For each document: its tokens, its title, and its headings with their ids. */
const pages = new Map(
  documents.map((document) => {
    const tokens = markdown.lexer(readFileSync(join(root, document), 'utf8'));
    const slugOf = createSlugs();
    const headings = tokens
      .filter(({ type }) => type === 'heading')
      .map((token) => ({
        token,
        depth: token.depth,
        text: plainText(token.tokens),
        id: slugOf(plainText(token.tokens)),
      }));
    return [document, { tokens, headings, title: headings[0]?.text ?? document, html: pageOf(document) }];
  }),
);

// Folders that documents link to. A folder gets an index page that lists its documents.
const folders = new Map(
  ['docs/decisions'].map((folder) => [
    folder,
    {
      title: 'Decisions',
      html: `${folder.slice('docs/'.length)}/index.html`,
      documents: documents.filter((document) => document.startsWith(`${folder}/`)),
    },
  ]),
);

const linkedFiles = new Set();
const problems = [];

/** The address in the site to which a link of `document` leads, relative to the page `from`. */
function resolveLink(document, href, from) {
  if (/^https?:/.test(href)) return href;
  const [path, heading] = href.split('#');
  const target = path === '' ? document : posix.normalize(posix.join(posix.dirname(document), path)).replace(/\/$/, '');
  const page = pages.get(target) ?? folders.get(target);
  if (heading && !pages.get(target)?.headings.some(({ id }) => id === heading)) problems.push(`${document}: ${href}`);
  if (!page && !(existsSync(join(root, target)) && statSync(join(root, target)).isFile())) {
    problems.push(`${document}: ${href}`);
    return href;
  }
  if (!page) linkedFiles.add(target);
  if (page && path === '') return `#${heading}`;
  const address = posix.relative(posix.dirname(from), page?.html ?? `files/${target}`);
  return heading ? `${address}#${heading}` : address;
}

/** The body of a document as HTML. */
function renderBody(document) {
  const page = pages.get(document);
  const renderer = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const { id } = page.headings.find(({ token }) => token.tokens === tokens);
        const anchor = `<a class="anchor" href="#${id}" aria-label="Link to this section">#</a>`;
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}${depth === 1 ? '' : anchor}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const path = posix.join(posix.dirname(document), href.split('#')[0]);
        const target = pages.get(path) ?? folders.get(path);
        const text = this.parser.parseInline(tokens);
        // If the text of a link is the name of a file or folder, the title of the page replaces it.
        const label = target && /^[\w-]+(?:\.md|\/)$/.test(withoutTags(text)) ? escapeHtml(target.title) : text;
        return `<a href="${escapeHtml(resolveLink(document, href, page.html))}">${label}</a>`;
      },
      table(token) {
        const cells = (row, tag) =>
          row.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('');
        const rows = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n');
        const head = `<thead><tr>${cells(token.header, 'th')}</tr></thead>`;
        return `<div class="table" data-columns="${token.header.length}" tabindex="0"><table>${head}<tbody>\n${rows}\n</tbody></table></div>\n`;
      },
      html({ text }) {
        if (text.startsWith('<!--')) return '';
        if (/^<picture>.*<\/picture>$/s.test(text.trim())) {
          return text.replace(
            / (src|srcset)="([^"]+)"/g,
            (_, name, file) => ` ${name}="${resolveLink(document, file, page.html)}"`,
          );
        }
        if (!/^<br>$/.test(text.trim())) problems.push(`${document}: HTML that is not allowed: ${text.trim()}`);
        return text;
      },
    },
  });
  return renderer.parser(page.tokens);
}

/**
 * The groups of the sidebar: one for each table of docs/README.md, and one for the documents in the repository's root.
 */
function sidebarGroups() {
  const tables = pages.get('docs/README.md').tokens.filter(({ type }) => type === 'table');
  const groups = tables.map(({ header, rows }) => ({
    name: plainText(header[0].tokens),
    links: rows.map(([{ tokens }]) => {
      const link = tokens.find(({ type }) => type === 'link');
      return { label: plainText(link.tokens), page: resolveLink('docs/README.md', link.href, 'index.html') };
    }),
  }));
  const project = projectDocuments.map((document) => ({ label: pages.get(document).title, page: pageOf(document) }));
  return [...groups, { name: 'Project', links: project }];
}

function renderSidebar(html, headings) {
  const addressOf = (page) => posix.relative(posix.dirname(html), page);
  const sections = headings.filter(({ depth }) => depth === 2);
  const ofPage = `<ul>${sections.map(({ id, text }) => `<li><a href="#${id}">${escapeHtml(text)}</a></li>`).join('')}</ul>`;
  return sidebarGroups()
    .map(({ name, links }) => {
      const items = links.map(({ label, page }) => {
        const isCurrent = page === html;
        const isAround = !isCurrent && page.endsWith('/index.html') && html.startsWith(posix.dirname(page));
        const attributes = isCurrent ? ' aria-current="page"' : isAround ? ' aria-current="true"' : '';
        const inside = isCurrent && sections.length > 0 ? ofPage : '';
        return `<li><a href="${addressOf(page)}"${attributes}>${escapeHtml(label)}</a>${inside}</li>`;
      });
      return `<h2>${escapeHtml(name)}</h2>\n<ul>\n${items.join('\n')}\n</ul>`;
    })
    .join('\n');
}

function writePage(html, { title, body, headings = [] }) {
  const addressOf = (page) => posix.relative(posix.dirname(html), page);
  const file = join(out, html);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(
    file,
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}${title === 'sandflow' ? '' : ' · sandflow'}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${addressOf('style.css')}">
</head>
<body>
<a class="skip" href="#page.main">Skip to content</a>
<header><a class="home" href="${addressOf('index.html')}">sandflow</a><button type="button" popovertarget="page.menu">Menu</button></header>
<nav id="page.menu" popover aria-label="Pages">
${renderSidebar(html, headings)}
</nav>
<main id="page.main">
${body}</main>
</body>
</html>
`,
  );
}

// Remove the pages of deleted documents. A folder that the caller names is not emptied: it may hold other files.
if (out === defaultFolder) rmSync(out, { recursive: true, force: true });
for (const [document, { title, html, headings }] of pages) {
  writePage(html, { title, headings, body: renderBody(document) });
}
for (const { title, html, documents: listed } of folders.values()) {
  const items = listed.map((document) => {
    const { title: label, html: page } = pages.get(document);
    return `<li><a href="${posix.relative(posix.dirname(html), page)}">${escapeHtml(label)}</a></li>`;
  });
  writePage(html, { title, body: `<h1>${title}</h1>\n<ul>\n${items.join('\n')}\n</ul>\n` });
}
for (const file of linkedFiles) cpSync(join(root, file), join(out, 'files', file));
cpSync(join(root, 'scripts/site.css'), join(out, 'style.css'));

if (problems.length > 0) {
  process.stderr.write(`Links and HTML that do not work:\n${[...new Set(problems)].join('\n')}\n`);
  process.exitCode = 1;
} else process.stdout.write(`${relative(process.cwd(), join(out, 'index.html'))}\n`);
