// Draws lines of a terminal, as a program has written them, as an SVG image.

const cell = { width: 8.4, height: 20, baseline: 14.5, fontSize: 14 };
const margin = 18;

const themes = {
  light: {
    ...{ background: '#ffffff', border: '#d0d7de', text: '#1f2328', dim: '#656d76' },
    ...{ red: '#cf222e', green: '#1a7f37', yellow: '#9a6700', cyan: '#0969da' },
  },
  dark: {
    ...{ background: '#0d1117', border: '#30363d', text: '#e6edf3', dim: '#8d96a0' },
    ...{ red: '#ff7b72', green: '#3fb950', yellow: '#d29922', cyan: '#58a6ff' },
  },
};

/** What each SGR code adds to the style of the text that follows, or takes from it. */
const sgr = {
  0: { bold: false, colour: 'text' },
  1: { bold: true },
  2: { colour: 'dim' },
  22: { bold: false, colour: 'text' },
  31: { colour: 'red' },
  32: { colour: 'green' },
  33: { colour: 'yellow' },
  36: { colour: 'cyan' },
  39: { colour: 'text' },
};

/** Blocks are drawn as rectangles: glyphs of most fonts leave gaps between them. */
const blocks = { '█': 1, '▒': 0.5, '░': 0.18 };

const escapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeXml = (text) => text.replace(/[&<>"]/g, (character) => escapes[character]);

/** Texts of one style, each with its column. Gaps of two spaces and more divide them, and so do blocks. */
function runsOf(line) {
  const runs = [];
  let style = { bold: false, colour: 'text' };
  let column = 0;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ESC begins a sequence
  for (const [, codes, text] of line.matchAll(/\u001b\[([\d;]*)m|([^\u001b]+)/g)) {
    if (text === undefined) {
      for (const code of (codes || '0').split(';')) {
        if (!(code in sgr)) throw new Error(`The picture has no style for the SGR code ${code}.`);
        style = { ...style, ...sgr[code] };
      }
      continue;
    }
    for (const [part] of text.matchAll(/[█▒░]+| {2,}|(?:(?! {2})[^█▒░])+/g)) {
      // Spaces at an end would be dropped, and the rest stretched over their columns.
      const start = column + part.length - part.trimStart().length;
      if (part.trim() !== '') runs.push({ ...style, column: start, text: part.trim() });
      column += part.length;
    }
  }
  return runs;
}

function drawRun({ bold, colour, column, text }, row, theme) {
  const x = margin + column * cell.width;
  const y = margin + row * cell.height;
  const width = +(text.length * cell.width).toFixed(1);
  const opacity = blocks[text[0]];
  if (opacity !== undefined) {
    return `<rect x="${+x.toFixed(1)}" y="${y + 3}" width="${width}" height="14" fill="${theme[colour]}" opacity="${opacity}"/>`;
  }
  const weight = bold ? ' font-weight="700"' : '';
  // The length keeps the columns in place, whatever font a reader has.
  return `<text x="${+x.toFixed(1)}" y="${y + cell.baseline}" textLength="${width}" lengthAdjust="spacingAndGlyphs" fill="${theme[colour]}"${weight}>${escapeXml(text)}</text>`;
}

/**
 * @param lines lines with SGR sequences, without any other control character; each character is one column wide
 * @param options `theme`: `light` or `dark`; `columns`: width of the terminal; `title`: what the image shows
 */
export function terminalSvg(lines, { theme: name, columns, title }) {
  const theme = themes[name];
  const width = Math.ceil(columns * cell.width) + 2 * margin;
  const height = lines.length * cell.height + 2 * margin;
  const drawn = lines.flatMap((line, row) => runsOf(line).map((run) => drawRun(run, row, theme)));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>${escapeXml(title)}</title>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" fill="${theme.background}" stroke="${theme.border}"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="${cell.fontSize}">
${drawn.join('\n')}
</g>
</svg>
`;
}
