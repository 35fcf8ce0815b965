// Makes the pictures of the README and of docs/traces.md in pictures/, from a real batch and a real job: npm run pictures. It needs
// util-linux. They run on a stack of its own, and take about three minutes.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { terminalSvg } from './terminal-svg.mjs';

const root = fileURLToPath(new URL('../', import.meta.url));
const main = join(root, 'dist/src/cli/main.js');
const pictures = join(root, 'pictures');
const themes = ['light', 'dark'];
const terminal = { columns: 100, rows: 26 };

/** Packages of an imagined shop, and how long the agent takes for each of its three commands, in seconds. */
const packages = [
  ['cart', 2, 3, 4],
  ['catalog', 3, 6, 9],
  ['checkout', 2, 4, 6],
  ['invoices', 2, 2, 3],
  ['mail', 3, 4, 0],
  ['payroll', 2, 2, 2],
  ['pricing', 4, 6, 8],
  ['reports', 5, 9, 14],
  ['returns', 2, 4, 6],
  ['search', 3, 6, 8],
  ['shipping', 3, 5, 9],
  ['stock', 2, 4, 6],
];

/**
 * What the agent and the check call in a fork. `mail` fails for every agent, and no agent repairs `payroll`. The tests of
 * `returns`, `shipping` and `stock` pass in the second round.
 */
const programs = {
  'find-uses': `sleep "$(cut -d ' ' -f 1 "$2/pace")"; echo "$2/dates.ts: 3 uses of $1"`,
  replace: `sleep "$(cut -d ' ' -f 2 "$3/pace")"
case $3 in */mail) echo "$3/zones.ts: date-fns has no moment.tz"; exit 2 ;; esac
echo "replaced $1 by $2 in 3 places"`,
  test: `sleep "$(cut -d ' ' -f 3 "$1/pace")"
case $1 in */returns | */shipping | */stock) [ -e "$1/repaired" ] || set -- "$1/payroll" ;; esac
case $1 in */payroll) echo 'FAIL a month of 31 days: expected 31, received 30'; exit 1 ;; esac
echo "14 tests passed" | tee -a report.md`,
  repair: `sleep "$(cut -d ' ' -f 2 "$2/pace")"
touch "$2/repaired"; echo "repaired the months of $2"`,
};

const prompt = `Replace \`moment\` by \`date-fns\` in the package {{package}}.

\`\`\`sh
bin/find-uses moment packages/{{package}}
\`\`\`

\`\`\`sh
bin/replace moment date-fns packages/{{package}}
\`\`\`
`;

/** The prompt after a failed check. */
const repairPrompt = `{{output}}

\`\`\`sh
bin/repair {{command}}
\`\`\`
`;

/** The job of the trace runs the tests itself. */
const tests = `
\`\`\`sh
bin/test packages/{{package}}
\`\`\`
`;

/** The command as the picture shows it. The rest only makes the batch that it shows. */
const shown = ['fanout', 'packages.csv', '--prompt', '@migrate.md', '--rounds', '3', '--provider', 'codex,claude-code'];
const hidden = ['--prepare-put', 'bin:bin', '--prepare-put', 'packages:packages', '--command', 'chmod +x bin/*'];
const checking = ['--check-prompt', '@repair.md', '--no-check-before'];
const settings = ['--get', 'report.md', '--concurrency', '9', '--id', 'move-dates', '--out', 'results'];

/** The job whose trace is shown. */
const traced = 'move-search';
const tracedJob = ['run', '--prompt', '@search.md', '--id', traced, '--setup', 'sleep 2'];
const itsFiles = ['--put', 'bin:bin', '--put', 'packages/search:packages/search', '--get', 'report.md'];

function writeProject(folder) {
  mkdirSync(join(folder, 'bin'));
  for (const [name, lines] of Object.entries(programs))
    writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${lines}\n`);
  for (const [name, ...pace] of packages) {
    mkdirSync(join(folder, 'packages', name), { recursive: true });
    writeFileSync(join(folder, 'packages', name, 'pace'), `${pace.join(' ')}\n`);
  }
  const rows = packages.map(([name]) => `${name},${name},bin/test packages/${name}\n`);
  writeFileSync(join(folder, 'packages.csv'), `id,package,checks\n${rows.join('')}`);
  writeFileSync(join(folder, 'migrate.md'), prompt);
  writeFileSync(join(folder, 'repair.md'), repairPrompt);
  writeFileSync(
    join(folder, 'search.md'),
    `${prompt}${tests}`.replaceAll('{{package}}', 'search').replaceAll('\nbin/', '\nsh bin/'),
  );
}

/** Runs a command of sandflow in a terminal, and returns all that it wrote there. */
function inTerminal(args, { cwd, env }) {
  const words = [process.execPath, main, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
  const line = `stty cols ${terminal.columns} rows ${terminal.rows}; exec ${words.join(' ')}`;
  return new Promise((resolve, reject) => {
    const child = spawn('script', ['-qfec', line, '/dev/null'], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
    const written = [];
    child.stdout.on('data', (bytes) => written.push(bytes));
    child.once('error', reject);
    child.once('close', (exitCode) => resolve({ exitCode, output: Buffer.concat(written).toString() }));
  });
}

/** Every state of the live board: what follows the sequence that clears the last one. */
function framesOf(output) {
  return output
    .split('\u001b[J')
    .slice(1)
    .map((frame) => frame.split('\u001b[1G')[0].split(/\r?\n/));
}

const phases = ['forking', 'starting', 'agent works 1/3', 'agent works 2/3', 'stopping', 'archiving'];
const said = /uses of moment|replaced moment|repaired the months/g;

/** How much a frame shows: failures, phases and words of agents, with progress that has come half of the way. */
function worthOf(lines) {
  const text = lines.join('\n');
  const seen = phases.filter((phase) => text.includes(phase)).length;
  const percent = Number(/ (\d+) %/.exec(text)?.[1] ?? 0);
  const spoken = [...text.matchAll(said)].map(([words]) => words);
  const failed = lines.filter((line) => /prompt_failed|unverified/.test(line)).length;
  return 3 * (failed + seen + new Set(spoken).size) + spoken.length - Math.abs(percent - 55) / 2;
}

function refuseTraces(text, home) {
  const traces = [home, root].filter((path) => text.includes(path));
  const words = text.split(/[^\w.-]+/).filter((word) => word === hostname());
  const [trace] = [...traces, ...words];
  if (trace) throw new Error(`A picture would show ${trace}.`);
}

function draw(name, title, args, output) {
  const lines = [`\u001b[2m$\u001b[22m sandflow ${args.join(' ')}`, '', ...output];
  refuseTraces(lines.join('\n'), home);
  mkdirSync(pictures, { recursive: true });
  for (const theme of themes) {
    const svg = terminalSvg(lines, { theme, columns: terminal.columns, title });
    writeFileSync(join(pictures, `${name}-${theme}.svg`), svg);
  }
}

const home = mkdtempSync(join(tmpdir(), 'sandflow-pictures-'));
const settingsOfOthers = /^(?:SANDBOX_|SANDFLOW_(?!CACHE$)|TEMPORAL_)/;
const inherited = Object.entries(process.env).filter(([name]) => !settingsOfOthers.test(name));
const project = join(home, 'project');
const stack = join(home, 'stack');
mkdirSync(project);
mkdirSync(stack, { mode: 0o700 });
// As long as a machine takes in the cloud. Otherwise these phases are too short to be seen.
writeFileSync(join(stack, 'local-service.json'), JSON.stringify({ timings: { bootMs: 2_500, archiveMs: 1_500 } }));
const env = { ...Object.fromEntries(inherited), SANDFLOW_HOME: stack, TERM: 'xterm-256color', SHELL: '/bin/sh' };
try {
  writeProject(project);
  await inTerminal(['up'], { cwd: project, env });
  const { output } = await inTerminal([...shown, ...hidden, ...checking, ...settings], { cwd: project, env });
  const [best] = framesOf(output).sort((one, other) => worthOf(other) - worthOf(one));
  if (!best) throw new Error(`The batch showed no board:\n${output}`);
  draw('board', 'The live board of sandflow fanout', shown, best);
  await inTerminal([...tracedJob, ...itsFiles], { cwd: project, env });
  const look = ['jobs', 'trace', traced];
  const { output: drawn, exitCode } = await inTerminal(look, { cwd: project, env });
  if (exitCode !== 0) throw new Error(`The job has no trace:\n${drawn}`);
  draw('trace', 'The trace of a job', look, drawn.trimEnd().split(/\r?\n/));
} finally {
  await inTerminal(['down', '--force'], { cwd: project, env });
  rmSync(home, { recursive: true, force: true });
}
