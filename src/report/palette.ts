/** The colours of the report, in light and in dark. A test computes their contrast. */

export const light = {
  /** The page, and the cards on it. */
  page: '#f6f7f9',
  card: '#ffffff',
  /** Hovered or selected rows, and grooves of charts. */
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
  /** Behind lines that differ, and behind the differing part of a line. */
  differs: '#fff1cf',
  differsMore: '#ffd97a',
  queued: '#8792a2',
  // The phase of prompting has the strongest colour, because it is the work. The other phases are paler.
  booting: '#b98337',
  preparing: '#4d98a0',
  prompting: '#1f57d6',
  ending: '#908a9f',
};

export type Palette = Readonly<Record<keyof typeof light, string>>;

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
  booting: '#a87f47',
  preparing: '#3f828a',
  prompting: '#7ba6ff',
  ending: '#767189',
};

/** The palettes as CSS custom properties. The system of the reader selects one; paper is always light. */
export function paletteCss(): string {
  const properties = (palette: Palette): string =>
    Object.entries(palette)
      .map(([name, value]) => `--${name}:${value};`)
      .join('');
  return [
    `:root{color-scheme:light;${properties(light)}}`,
    `@media screen and (prefers-color-scheme:dark){:root{color-scheme:dark;${properties(dark)}}}`,
  ].join('\n');
}
