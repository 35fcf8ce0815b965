/** The package with each package manager that people have, and what its registry and its users need. */
import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../../../src/config.js';
import { type Ended, requireRoot } from '../../../setup/other-user.js';
import { repository } from '../../../unit/house/source-imports.js';
import { type InstalledPackage, installPackage, npmInstall } from './installed.js';

/** Programs of npm, each in a folder of its own name. */
const tools = [
  ...['npm@10', 'npm@11', 'pnpm@10', 'pnpm@11', 'pnpm@12', 'yarn@1'].map((version) => `${version}@npm:${version}`),
  'yarn@4@npm:@yarnpkg/cli-dist@4',
  'publint@0.3.25',
  '@arethetypeswrong/cli@0.18.5',
];
/** A user with a name and no rights: the Temporal server asks for the name. */
const nobody = 65_534;
/** npm allows no `@` in the name of a folder. */
const alias = (tool: string) => tool.replace(/^(npm|pnpm|yarn)@(\d+)@/, '$1$2@');
/** The versions that sandflow supports. npm has each as a package of one program, `bin/node`. */
const nodes = ['20.19', '22', '24'];

let installed: InstalledPackage;
let work: string;
const inTools = (...path: readonly string[]) => join(work, 'tools', 'node_modules', ...path);

beforeAll(async () => {
  installed = await installPackage();
  work = mkdtempSync(join(tmpdir(), 'sandflow-managers-'));
  mkdirSync(join(work, 'tools'));
  writeFileSync(join(work, 'tools', 'package.json'), '{"private":true}\n');
  const nodePackages = nodes.map((version) => `node${version}@npm:node-${process.platform}-${process.arch}@${version}`);
  await npmInstall(join(work, 'tools'), [...tools.map(alias), ...nodePackages]);
});
afterAll(() => {
  installed.remove();
  rmSync(work, { recursive: true, force: true });
});

interface Place {
  readonly cwd: string;
  readonly home: string;
  readonly path?: string;
  /** Runs as a user without rights. */
  readonly isOther?: boolean;
  readonly cache?: string;
}

/** How this machine reaches a registry: its own authorities, and a proxy. */
const network = /^(?:NODE_EXTRA_CA_CERTS|SSL_CERT_(?:FILE|DIR)|(?:https?|no)_proxy)$/i;

/** Runs a program with nothing of the environment but what a newcomer has. */
function run(program: string, args: readonly string[], { cwd, home, path, isOther = false, cache }: Place) {
  const env = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => network.test(name))),
    PATH: [...(path === undefined ? [] : [path]), process.env.PATH].join(delimiter),
    HOME: home,
    SANDFLOW_CACHE: cache ?? readConfig().cacheDirectory,
  };
  const user = isOther ? { uid: nobody, gid: nobody } : {};
  const child = spawn(program, args, { cwd, env, ...user, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) child[name].on('data', (chunk) => (output[name] += String(chunk)));
  return new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exitCode) => resolve({ exitCode, ...output }));
  });
}

/** An empty project with the tarballs, and an empty home. */
function newProject(
  name: string,
  files: Readonly<Record<string, string>> = {},
): Place & { readonly tarballs: readonly string[] } {
  const folder = join(work, name);
  const [cwd, home] = [join(folder, 'project'), join(folder, 'home')];
  for (const path of [cwd, home]) mkdirSync(path, { recursive: true });
  const tarballs = [installed.tarball, installed.localTarball].map((path) => {
    cpSync(path, join(cwd, basename(path)));
    return `./${basename(path)}`;
  });
  writeFileSync(join(cwd, 'package.json'), '{"name":"newcomer","private":true,"type":"module"}\n');
  for (const [file, text] of Object.entries(files)) writeFileSync(join(cwd, file), text);
  return { cwd, home, tarballs };
}

async function expectJob(program: string, args: readonly string[], place: Place): Promise<void> {
  try {
    const { exitCode, stdout, stderr } = await run(program, [...args, 'run', 'Say hello'], place);
    expect({ exitCode, stdout }, stderr).toEqual({ exitCode: 0, stdout: expect.stringContaining('Say hello') });
  } finally {
    await run(program, [...args, 'down'], place);
  }
}

const refusedBuilds = `allowBuilds:\n  '@swc/core': false\n  protobufjs: false\n`;

interface Manager {
  readonly name: string;
  /** The program, in the folder of its package, and its arguments. */
  readonly program: readonly string[];
  readonly add: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  readonly needsNode22?: boolean;
}

const managers: readonly Manager[] = [
  { name: 'npm10', program: ['bin', 'npm-cli.js'], add: ['install'] },
  { name: 'npm11', program: ['bin', 'npm-cli.js'], add: ['install'] },
  { name: 'pnpm10', program: ['bin', 'pnpm.cjs'], add: ['add'] },
  {
    name: 'pnpm11',
    program: ['bin', 'pnpm.mjs'],
    add: ['add'],
    files: { 'pnpm-workspace.yaml': refusedBuilds },
    needsNode22: true,
  },
  { name: 'pnpm12', program: ['pnpm'], add: ['add'], files: { 'pnpm-workspace.yaml': refusedBuilds } },
  { name: 'yarn1', program: ['bin', 'yarn.js'], add: ['add', '--non-interactive'] },
  {
    name: 'yarn4',
    program: ['bin', 'yarn.js'],
    add: ['add'],
    files: { '.yarnrc.yml': 'nodeLinker: node-modules\n' },
  },
];

/** A project with a worker and a workflow of its own. */
const start = `
  const { stack } = JSON.parse(process.argv[2]).status;
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const connection = await NativeConnection.connect({ address: stack.temporalAddress });
  const apiKey = readFileSync(stack.apiKeyFile, 'utf8').trim();
  const client = createSandboxClient({ baseUrl: stack.sandboxApiUrl, apiKey });
  const plugins = [new SandflowPlugin({ client, results: createResultStore(process.cwd() + '/results') })];
  const worker = await Worker.create({ connection, taskQueue: 'yours', workflowsPath: process.cwd() + '/workflows.js', plugins });
  const workflowId = 'yours-' + Date.now();
  const started = new Client({ connection }).workflow.execute('fix', { taskQueue: 'yours', workflowId, args: [workflowId] });
  const outcome = await worker.runUntil(started);
  await client.close();
  await connection.close();
  const { version } = JSON.parse(readFileSync('node_modules/@temporalio/worker/package.json'));
  console.log(outcome + ' with ' + version + ' on ' + process.version);
`;
const imported = [
  ['{ readFileSync }', 'node:fs'],
  ['{ Client }', '@temporalio/client'],
  ['{ DefaultLogger, NativeConnection, Runtime, Worker }', '@temporalio/worker'],
  ['{ createResultStore, createSandboxClient, SandflowPlugin }', 'sandflow'],
] as const;
const ownWorker = {
  'main.mjs': `${imported.map(([names, from]) => `import ${names} from '${from}';`).join('\n')}\n${start}`,
  'main.cjs': `${imported.map(([names, from]) => `const ${names} = require('${from}');`).join('\n')}
(async () => {${start}})();\n`,
  'workflows.js': `import { executeChild } from '@temporalio/workflow';
import { ownJob } from 'sandflow/waiting';
import { createThenPrompt } from 'sandflow/workflows';
export * from 'sandflow/workflows';
export async function fix(jobId) {
  const prompts = [{ prompt: 'Say hello' }];
  return (await executeChild(createThenPrompt, ownJob({ deployment: 'local', jobId, prompts }))).outcome;
}
`,
};

describe('the tarballs', () => {
  it.each(managers)('are installed by $name, and run a job', async ({ name, program, add, files, needsNode22 }) => {
    const project = newProject(name, files);
    const place = { ...project, ...(needsNode22 ? { path: inTools('node22', 'bin') } : {}) };
    const file = inTools(name, ...program);
    const [command, ...first] = /js$/.test(file) ? ['node', file] : [file];
    const what = project.tarballs.map((tarball) => (name === 'yarn1' ? `file:${tarball}` : tarball));
    const { exitCode, stdout, stderr } = await run(command ?? '', [...first, ...add, ...what], place);
    expect(exitCode, `${stdout}\n${stderr}`).toBe(0);
    await expectJob(join(project.cwd, 'node_modules', '.bin', 'sandflow'), [], place);
  });

  const sdk = Object.keys(JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')).dependencies).filter(
    (name) => name.startsWith('@temporalio/'),
  );
  it.each(['npm11', 'pnpm10'].flatMap((name) => ['1.23.0', '1.24.0'].map((version) => ({ name, version }))))(
    'join a worker of the SDK $version that $name installed: one copy, from ES modules and CommonJS, on every Node',
    async (its) => {
      const { program = [], add = [] } = managers.find(({ name }) => name === its.name) ?? {};
      // Without it, a package could find what it does not name.
      const place = newProject(`worker-${its.name}-${its.version}`, { '.npmrc': 'hoist=false\n', ...ownWorker });
      const what = [...place.tarballs, ...sdk.map((name) => `${name}@${its.version}`)];
      const added = await run('node', [inTools(its.name, ...program), ...add, ...what], place);
      expect(added.exitCode, `${added.stdout}\n${added.stderr}`).toBe(0);
      const sandflow = join(place.cwd, 'node_modules', '.bin', 'sandflow');
      try {
        const { stdout: up } = await run(sandflow, ['up', '--json'], place);
        for (const node of nodes) {
          for (const main of ['main.mjs', 'main.cjs']) {
            const { stdout, stderr } = await run(inTools(`node${node}`, 'bin', 'node'), [main, up], place);
            expect(stdout, stderr).toContain(`completed with ${its.version} on v${node}.`);
          }
        }
      } finally {
        await run(sandflow, ['down'], place);
      }
    },
  );

  it('need each other for the first job: sandflow alone says what to add', async () => {
    const place = newProject('alone');
    await npmInstall(place.cwd, place.tarballs.slice(0, 1));
    const program = join(place.cwd, 'node_modules', '.bin', 'sandflow');
    const { exitCode, stderr } = await run(program, ['run', 'Say hello'], place);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr:
        'error: The local Sandbox Service is not installed. Add it with `npm install sandflow-local-service`, or set SANDBOX_API_URL to use a service.\n',
    });
    expect(readdirSync(join(place.cwd, 'node_modules')).filter((name) => /fastify|ssh2/.test(name))).toEqual([]);
  });

  it('make pnpm 12 end with 1 if nobody says which scripts may run, as docs/library.md says', async () => {
    const project = newProject('pnpm12-unasked');
    const { exitCode, stdout, stderr } = await run(inTools('pnpm12', 'pnpm'), ['add', ...project.tarballs], project);
    expect(exitCode).toBe(1);
    const said = `${stdout}${stderr}`.replaceAll(/@\d[\d.]*/g, '');
    expect(said).toMatch(/ERR_PNPM_IGNORED_BUILDS.*Ignored build scripts: @swc\/core, protobufjs\n/s);
  });

  it('have entries that publint and attw accept, for importers of ES modules', () => {
    for (const tarball of [installed.tarball, installed.localTarball]) {
      const check = (file: string, ...args: readonly string[]) =>
        execFileSync('node', [file, ...args, tarball], { encoding: 'utf8' });
      expect(check(inTools('publint', 'src', 'cli.js'), '--strict')).toContain('All good!');
      const types = inTools('@arethetypeswrong', 'cli', 'dist', 'index.js');
      const program = ['--exclude-entrypoints', './program'];
      expect(check(types, '--profile', 'esm-only', ...program, '--format', 'ascii')).not.toContain('⚠️ Problem');
    }
  });

  it('bring no package whose install script downloads anything', () => {
    const scripts = readdirSync(join(installed.folder, 'node_modules'), { recursive: true, encoding: 'utf8' })
      .filter((path) => /(?:^|\/)package\.json$/.test(path))
      .filter((path) =>
        /"(?:pre|post)?install": /.test(readFileSync(join(installed.folder, 'node_modules', path), 'utf8')),
      )
      .map((path) => path.replace(/^.*node_modules\//, '').replace(/\/package\.json$/, ''));
    // protobufjs compares versions; @swc/core loads its program, and downloads another one only on a platform without it.
    expect(scripts.toSorted()).toEqual(['@swc/core', 'protobufjs']);
  });
});

describe('a user without rights, whose home has spaces and accents', () => {
  /** A home with the Temporal server in its cache, which belongs to that user. */
  function newHome(name: string): Place {
    for (const folder of [work, installed.folder]) chmodSync(folder, 0o755);
    const home = join(work, name, 'Zoë Müller');
    const cache = join(home, '.cache', 'sandflow');
    mkdirSync(cache, { recursive: true });
    cpSync(readConfig().cacheDirectory, cache, { recursive: true });
    for (const path of ['.', ...readdirSync(home, { recursive: true, encoding: 'utf8' })]) {
      chownSync(join(home, path), nobody, nobody);
    }
    return { cwd: home, home, cache, isOther: true };
  }

  it('runs a job with npx from the tarball, in an empty folder', async (context) => {
    requireRoot(context);
    const place = newHome('npx');
    cpSync(installed.tarball, join(place.cwd, 'sandflow.tgz'));
    cpSync(installed.localTarball, join(place.cwd, 'local.tgz'));
    await expectJob('npx', ['--yes', '--package=./sandflow.tgz', '--package=./local.tgz', 'sandflow'], place);
  });

  it('runs a job from an installation that root owns', async (context) => {
    requireRoot(context);
    await expectJob(join(installed.folder, 'node_modules', '.bin', 'sandflow'), [], newHome('of-root'));
  });
});
