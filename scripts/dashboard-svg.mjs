// Draws the panels of a dashboard as an SVG image, from what Prometheus has answered.

const columns = 3;
const size = { width: 400, height: 210, gap: 14, margin: 18 };
const plot = { left: 52, right: 12, top: 34, bottom: 54 };

const themes = {
  light: {
    ...{ page: '#f6f8fa', panel: '#ffffff', border: '#d0d7de', text: '#1f2328', dim: '#656d76' },
    lines: ['#0969da', '#cf222e', '#1a7f37', '#9a6700', '#8250df', '#bf3989', '#1b7c83', '#57606a'],
  },
  dark: {
    ...{ page: '#010409', panel: '#0d1117', border: '#30363d', text: '#e6edf3', dim: '#8d96a0' },
    lines: ['#58a6ff', '#ff7b72', '#3fb950', '#d29922', '#bc8cff', '#f778ba', '#39c5cf', '#8b949e'],
  },
};

const escapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeXml = (words) => words.replace(/[&<>"]/g, (character) => escapes[character]);
const cut = (words, most) => (words.length > most ? `${words.slice(0, most - 1)}…` : words);

/** A number with its unit, as short as an axis needs. */
function shown(value, unit) {
  if (unit === 's' && value >= 3_600) return `${Number((value / 3_600).toPrecision(2))} h`;
  if (unit === 's' && value >= 60) return `${Number((value / 60).toPrecision(2))} min`;
  if (unit === 's' && value > 0 && value < 1) return `${Number((value * 1_000).toPrecision(2))} ms`;
  const number = value >= 1_000 ? `${Number((value / 1_000).toPrecision(2))} k` : `${Number(value.toPrecision(2))}`;
  return { s: `${number} s`, ms: `${number} ms`, reqps: `${number}/s` }[unit] ?? number;
}

/** The lines of one panel, and its legend below them. */
function drawPanel({ title, unit, series }, { from, to, colours }) {
  const inner = { width: size.width - plot.left - plot.right, height: size.height - plot.top - plot.bottom };
  const values = series.flatMap(({ points }) => points.map(([, value]) => value));
  const most = Math.max(...values, 0) || 1;
  const x = (at) => plot.left + ((at - from) / (to - from)) * inner.width;
  const y = (value) => plot.top + inner.height - (value / most) * inner.height;
  const grid = [0, 0.5, 1].map((share) => {
    const at = y(share * most).toFixed(1);
    return `<line x1="${plot.left}" x2="${size.width - plot.right}" y1="${at}" y2="${at}" stroke="${colours.border}"/>
<text x="${plot.left - 6}" y="${Number(at) + 4}" text-anchor="end" fill="${colours.dim}">${shown(share * most, unit)}</text>`;
  });
  const lines = series.map(({ points }, index) => {
    const path = points.map(([at, value], place) => {
      // Prometheus leaves out what it does not know.
      const isNext = place > 0 && at - points[place - 1][0] <= (to - from) / 40;
      return `${isNext ? 'L' : 'M'}${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
    });
    return `<path d="${path.join('')}" fill="none" stroke="${colours.lines[index % colours.lines.length]}" stroke-width="1.5" stroke-linecap="round"/>`;
  });
  const legend = series.slice(0, 6).map(({ label }, index) => {
    const left = plot.left + (index % 2) * 170;
    const top = size.height - plot.bottom + 20 + Math.floor(index / 2) * 14;
    return `<circle cx="${left}" cy="${top - 4}" r="4" fill="${colours.lines[index % colours.lines.length]}"/><text x="${left + 9}" y="${top}" fill="${colours.dim}">${escapeXml(cut(label, 26))}</text>`;
  });
  const more =
    series.length > 6
      ? [
          `<text x="${size.width - plot.right}" y="20" text-anchor="end" fill="${colours.dim}">+${series.length - 6} more</text>`,
        ]
      : [];
  const frame = `<rect width="${size.width}" height="${size.height}" rx="6" fill="${colours.panel}" stroke="${colours.border}"/>
<text x="12" y="21" font-size="13" font-weight="600" fill="${colours.text}">${escapeXml(title)}</text>`;
  return [frame, ...grid, ...lines, ...legend, ...more].join('\n');
}

/**
 * @param panels each with `title`, `unit` and `series`, whose `points` are pairs of seconds and a value
 * @param options `from` and `to`, in seconds, and the `theme`: `light` or `dark`
 */
export function dashboardSvg(panels, { from, to, theme }) {
  const colours = themes[theme];
  const rows = Math.ceil(panels.length / columns);
  const width = columns * (size.width + size.gap) - size.gap + 2 * size.margin;
  const height = rows * (size.height + size.gap) - size.gap + 2 * size.margin;
  const drawn = panels.map((panel, index) => {
    const left = size.margin + (index % columns) * (size.width + size.gap);
    const top = size.margin + Math.floor(index / columns) * (size.height + size.gap);
    return `<g transform="translate(${left} ${top})">\n${drawPanel(panel, { from, to, colours })}\n</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="ui-sans-serif, system-ui, sans-serif" font-size="11" role="img">
<title>The dashboard of sandflow after a batch with failures</title>
<rect width="${width}" height="${height}" fill="${colours.page}"/>
${drawn.join('\n')}
</svg>
`;
}
