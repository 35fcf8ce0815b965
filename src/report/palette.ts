/** The colours of the report, in light and in dark. A test computes their contrast. */

export interface Palette {
  /** The page, and what lies on it. */
  readonly page: string;
  readonly card: string;
  /** Under the pointer, chosen, and grooves of charts. */
  readonly raised: string;
  readonly line: string;
  readonly text: string;
  readonly muted: string;
  readonly accent: string;
  readonly onAccent: string;
  readonly good: string;
  readonly bad: string;
  readonly warn: string;
  readonly calm: string;
  /** Behind lines that differ. */
  readonly differs: string;
  /** Within such a line, what differs. */
  readonly differsMore: string;
  readonly queued: string;
  readonly booting: string;
  readonly preparing: string;
  readonly prompting: string;
  readonly ending: string;
}

export const light: Palette = {
  page: '#f6f7f9',
  card: '#ffffff',
  raised: '#eef1f5',
  line: '#d5dbe3',
  text: '#17202b',
  muted: '#536071',
  accent: '#2456c7',
  onAccent: '#ffffff',
  good: '#12704a',
  bad: '#b3261e',
  warn: '#8a5200',
  calm: '#536071',
  differs: '#fff1cf',
  differsMore: '#ffd97a',
  queued: '#8792a2',
  booting: '#b06a00',
  preparing: '#0d8390',
  prompting: '#3b6fe0',
  ending: '#9a55c7',
};

export const dark: Palette = {
  page: '#0f141b',
  card: '#171e27',
  raised: '#222b37',
  line: '#344050',
  text: '#e7ecf3',
  muted: '#9eabbc',
  accent: '#8db4ff',
  onAccent: '#0c1a33',
  good: '#5fd3a0',
  bad: '#ff9188',
  warn: '#f0bd5e',
  calm: '#9eabbc',
  differs: '#3a2f12',
  differsMore: '#6b5310',
  queued: '#67768a',
  booting: '#e0a34a',
  preparing: '#41b8c4',
  prompting: '#7ba6ff',
  ending: '#c58bef',
};

/** The palettes as custom properties: the system's choice, and the reader's own, which `data-theme` holds. */
export function paletteCss(): string {
  const properties = (palette: Palette): string =>
    Object.entries(palette)
      .map(([name, value]) => `--${name}:${value};`)
      .join('');
  return [
    `:root{color-scheme:light;${properties(light)}}`,
    `@media screen{:root[data-theme="dark"]{color-scheme:dark;${properties(dark)}}}`,
    `@media screen and (prefers-color-scheme:dark){:root:not([data-theme]){color-scheme:dark;${properties(dark)}}}`,
  ].join('\n');
}
