import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const repository = fileURLToPath(new URL('../../../', import.meta.url));

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => path.replaceAll('\\', '/'));
}

describe('the site that `npm run docs` renders', () => {
  let site: string;
  let pages: { readonly path: string; readonly html: string }[];

  beforeAll(() => {
    site = mkdtempSync(join(tmpdir(), 'sandflow-site-'));
    execFileSync(process.execPath, [join(repository, 'scripts/site.mjs'), '--out', site]);
    pages = filesIn(site)
      .filter((path) => path.endsWith('.html'))
      .map((path) => ({ path, html: readFileSync(join(site, path), 'utf8') }));
  });
  afterAll(() => rmSync(site, { recursive: true }));

  test('has a page for every document', () => {
    const documents = filesIn(join(repository, 'docs')).filter((path) => path.endsWith('.md'));
    const expected = documents.map((path) => path.replace(/README\.md$/, 'index.md').replace(/\.md$/, '.html'));
    expect(expected.filter((path) => !pages.some((page) => page.path === path))).toEqual([]);
    expect(expected.length).toBeGreaterThan(40);
  });

  test('gives each page a title of its own, one main heading and the sidebar', () => {
    const titles = pages.map(({ html }) => /<title>(.+)<\/title>/.exec(html)?.[1]);
    expect(titles).not.toContain(undefined);
    expect(new Set(titles).size).toBe(pages.length);
    expect(pages.filter(({ html }) => html.match(/<h1/g)?.length !== 1).map(({ path }) => path)).toEqual([]);
    expect(pages.filter(({ html }) => !/<nav.*run\.html.*<\/nav>/s.test(html)).map(({ path }) => path)).toEqual([]);
  });

  test('links only to pages, files and headings that exist', () => {
    const idsOf = new Map(
      pages.map(({ path, html }) => [path, [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)]),
    );
    const links = pages.flatMap(({ path, html }) =>
      [...html.matchAll(/ (?:href|src|srcset)="([^"]*)"/g)].map(([, target = '']) => ({ path, target })),
    );
    const internal = links.filter(({ target }) => !/^(?:https:|data:,$)/.test(target));
    const broken = internal.filter(({ path, target }) => {
      const [file, id] = target.split('#');
      const linked = file ? normalize(join(dirname(path), file)) : path;
      return !existsSync(join(site, linked)) || (id !== undefined && !idsOf.get(linked)?.includes(id));
    });
    expect(broken).toEqual([]);
    expect(internal.length).toBeGreaterThan(1_000);
  });

  test('gives each heading of a page an id of its own', () => {
    const repeated = pages.filter(({ html }) => {
      const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
      return new Set(ids).size < ids.length;
    });
    expect(repeated.map(({ path }) => path)).toEqual([]);
  });

  test('loads nothing from the network and runs no script', () => {
    const loads =
      /<(?:script|iframe|object|embed|video|audio)\b|<(?:link|img|source)[^>]* (?:href|src|srcset)="(?:https?:)?\/\/|@import|url\(/i;
    expect(pages.filter(({ html }) => loads.test(withoutCode(html))).map(({ path }) => path)).toEqual([]);
    expect(loads.test(readFileSync(join(site, 'style.css'), 'utf8'))).toBe(false);
  });
});

/** HTML without code, which may contain any text. */
function withoutCode(html: string): string {
  return html.replace(/<(code|pre)>.*?<\/\1>/gs, '');
}
