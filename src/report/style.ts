/** The style of the page: light and dark, for narrow and wide screens. A test computes the contrast of its colours. */

export const light = {
  page: '#f6f7f9',
  card: '#ffffff',
  line: '#d5dbe3',
  text: '#17202b',
  muted: '#536071',
  accent: '#2456c7',
  good: '#12704a',
  bad: '#b3261e',
  warn: '#8a5200',
};

export type Palette = Readonly<Record<keyof typeof light, string>>;

export const dark: Palette = {
  page: '#0f141b',
  card: '#171e27',
  line: '#344050',
  text: '#e7ecf3',
  muted: '#9eabbc',
  accent: '#8db4ff',
  good: '#5fd3a0',
  bad: '#ff9188',
  warn: '#f0bd5e',
};

function properties(palette: Palette): string {
  return Object.entries(palette)
    .map(([name, value]) => `--${name}:${value};`)
    .join('');
}

/** The system of the reader selects the palette; paper is always light. */
export const styleText = `:root{color-scheme:light;${properties(light)}}
@media screen and (prefers-color-scheme:dark){:root{color-scheme:dark;${properties(dark)}}}
*{box-sizing:border-box}
body{max-width:1400px;margin:0 auto;padding:16px clamp(10px,3vw,32px) 48px;background:var(--page);color:var(--text);font:15px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1,h2,h3,p,dl,dd,ul,ol{margin:0}
h1{font-size:clamp(22px,4vw,32px);line-height:1.25}
h2{font-size:17px;margin:0 0 8px}
* + h2{margin-top:20px}
h3{font-size:13px;margin:14px 0 4px;color:var(--muted)}
a{color:var(--accent)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
header,section{margin-bottom:16px;padding:16px clamp(10px,2vw,20px);background:var(--card);border:1px solid var(--line);border-radius:8px}
header > *{margin-bottom:8px}
.note,.calm,.head{color:var(--muted)}
.note,.head{font-size:13px;font-weight:400}
.good{color:var(--good)}
.bad,.error{color:var(--bad)}
.warn{color:var(--warn)}
.alert{margin:8px 0;padding:6px 10px;border-left:4px solid var(--warn)}
.message{white-space:pre-wrap}
.number{text-align:right;font-variant-numeric:tabular-nums}
dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,220px),1fr));gap:6px 20px}
dt{color:var(--muted);font-size:13px}
ul{padding-left:20px}
table{width:100%;border-collapse:collapse}
th,td{padding:5px 8px;border-bottom:1px solid var(--line);text-align:left;vertical-align:top;font-weight:400}
thead th{color:var(--muted);font-size:13px}
thead th,.number{overflow-wrap:break-word}
th.number{text-align:right}
.chip,.rounds > span{display:inline-block;padding:0 6px;border:1px solid;border-radius:9px;font-size:12px;line-height:1.35}
.rounds > span{margin-right:2px;padding:0 3px;border-radius:3px}
.bars + table{margin-top:16px}
.bars th,.bars .number{white-space:nowrap}
.bar{width:50%}
.bar svg{display:block;width:100%;height:10px;margin-top:6px;color:var(--accent)}
.wide{overflow-x:auto}
.wide th,.wide td{min-width:110px;overflow-wrap:break-word}
.items{list-style:none;padding:0}
.items li{border-top:1px solid var(--line);content-visibility:auto;contain-intrinsic-size:auto 34px}
.row{display:grid;grid-template-columns:5ch minmax(90px,2fr) minmax(150px,1.6fr) 9ch 14ch minmax(120px,4fr);gap:0 12px;padding:5px 8px}
summary{cursor:pointer}
summary:hover,details[open] > summary{background:var(--page)}
summary > bdi{color:var(--accent)}
.details{padding:4px 8px 16px;scroll-margin-top:64px}
pre{max-height:420px;margin:4px 0;padding:8px 10px;overflow:auto;background:var(--page);border:1px solid var(--line);border-radius:6px;color:var(--text);font:13px/1.45 ui-monospace,monospace;white-space:pre-wrap}
@media (max-width:760px){.head{display:none}.row{display:flex;flex-wrap:wrap}.row > :last-child{flex-basis:100%}th,td{padding:5px 4px}}
@media print{body{background:none}pre{max-height:none}}`;
