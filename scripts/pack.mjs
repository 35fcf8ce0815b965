// Packs the command line: a command then loads a dozen files, where it loaded 700. The library stays as compiled.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { isAbsolute, join, sep } from 'node:path';
import { rolldown } from 'rolldown';
import { packagesOf } from './third-party-licenses.mjs';
import { usedMessages } from './used-messages.mjs';

/** These have native code, read files beside their own code, are used by servers only, or may not be installed. */
const unpacked = [
  '@aws-sdk/client-s3',
  '@opentelemetry/api',
  '@temporalio/worker',
  '@temporalio/core-bridge',
  '@grpc/proto-loader',
  'libsql',
  'prom-client',
];

/**
 * Modules that are loaded together share a chunk: all that the files import, but what an earlier chunk has. Whatever
 * is imported only on demand gets chunks of its own.
 */
const chunks = [
  ['start', 'src/cli/run-cli.js'],
  ['settings', 'src/config.js'],
  ['stack', 'src/cli/stack/show-stack.js'],
  ['temporal', 'src/cli/connect/temporal-link.js'],
  ['service', 'src/client/index.js'],
  ['platform', 'src/cli/connect/platform.js'],
  ['messages', 'src/cli/output/reporter.js'],
  ['job', 'src/workflow-client/jobs/job-client.js'],
  ['run', 'src/cli/run/read-run.js', 'src/cli/run/run-job.js'],
];

/**
 * Replaces `dist/src/cli/start.js` and `start-worker.js` by packed ones, and removes the modules of the command line
 * that are in them. The chunks lie as deep as the folders of their sources, so that what a module finds from
 * `import.meta.url` stays where it is.
 * @param dist the folder of the compiled program
 * @returns the folders of the packages whose code is in it
 */
export async function packCommandLine(dist) {
  // The second replaces what the first reads.
  const packages = await pack(dist, {
    ...{ entry: 'start-worker', folder: 'packed-worker', isExternal: isPackage },
    plugins: [onlyWorker],
  });
  packages.push(...(await pack(dist, { entry: 'start', folder: 'packed', isExternal: isUnpacked })));
  const kept = ['main.js', 'require-node.js', 'require-node.d.ts', 'runtime.js', 'start.js', 'start-worker.js'];
  for (const name of readdirSync(join(dist, 'src', 'cli'))) {
    if (!kept.includes(name)) rmSync(join(dist, 'src', 'cli', name), { recursive: true });
  }
  return packages;
}

async function pack(dist, { entry, folder, isExternal, plugins = [] }) {
  const bundle = await rolldown({
    input: { [`cli/${entry}`]: join(dist, 'src', 'cli', `${entry}.js`) },
    cwd: dist,
    platform: 'node',
    external: isExternal,
    plugins: [smallerMessages(dist), lazyCodecs, lighterUndici, withoutPrograms, compiledAtOnce, ...plugins],
    onLog: (_, { code, message }) => {
      // A module that one file loads on demand and another at once is no mistake.
      if (code !== 'INEFFECTIVE_DYNAMIC_IMPORT') throw new Error(message);
    },
  });
  const { output } = await bundle.write({
    dir: join(dist, 'src'),
    entryFileNames: '[name].js',
    chunkFileNames: `${folder}/[name]-[hash].js`,
    comments: { legal: false, annotation: false, jsdoc: false },
    codeSplitting: { groups: groupsOf(dist) },
  });
  await bundle.close();
  return packagesOf(output);
}

/**
 * Reading the definitions of Temporal's messages is the longest part of most commands, which meet a quarter of them.
 * Text for `JSON.parse` takes less time than an object literal.
 */
const smallerMessages = (dist) => ({
  name: 'smaller-messages',
  load: {
    filter: { id: /@temporalio[/\\]proto[/\\]protos[/\\]json-module\.js$/ },
    handler(id) {
      const [, before, definitions, after] = /^(.*\.addJSON\()(.*)(\);.*)$/s.exec(readFileSync(id, 'utf8'));
      const folders = ['client', 'common'].map((name) => join(id, '..', '..', '..', name, 'lib'));
      const used = usedMessages(JSON.parse(definitions), modulesIn([...folders, join(dist, 'src')]));
      return `${before}JSON.parse(${JSON.stringify(JSON.stringify(used))})${after}`;
    },
  },
});

function modulesIn(folders) {
  const paths = folders.flatMap((folder) => readdirSync(folder, { recursive: true }).map((name) => join(folder, name)));
  return paths.filter((path) => path.endsWith('.js')).map((path) => readFileSync(path, 'utf8'));
}

/** Of the five functions that protobufjs generates for a message when it first meets it, a command needs one or two. */
const lazyCodecs = {
  name: 'lazy-codecs',
  load: {
    filter: { id: /protobufjs[/\\]src[/\\]type\.js$/ },
    handler(id) {
      const generated = /this\.(\w+) = (\w+(?:\.\w+)?\(this\)\(\{[^}]*\}\));/g;
      const source = readFileSync(id, 'utf8');
      if (source.match(generated)?.length !== 5) throw new Error(`${id} generates other functions than expected.`);
      const lazy = 'this.$1 = function () { return (this.$1 = $2).apply(this, arguments); };';
      return source.replace(generated, lazy);
    },
  },
};

/** The client of the service needs a third of undici, whose index loads all of it: WebSockets, mocks, caches. */
const lighterUndici = {
  name: 'lighter-undici',
  resolveId: {
    filter: { id: /^undici$/ },
    handler: (_, from) => (from.endsWith(join('client', 'caller.js')) ? '\0undici' : null),
  },
  load: {
    filter: { id: /^\0undici$/ },
    handler: () => `
      import api from 'undici/lib/api/index.js';
      import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
      export { default as EnvHttpProxyAgent } from 'undici/lib/dispatcher/env-http-proxy-agent.js';
      export { default as Pool } from 'undici/lib/dispatcher/pool.js';
      Object.assign(Dispatcher.prototype, api);
    `,
  },
};

/** Commander imports it for subcommands that are programs of their own. No command here is. */
const withoutPrograms = {
  name: 'without-programs',
  resolveId: {
    filter: { id: /^node:child_process$/ },
    handler: (_, from) => (/[\\/]commander[\\/]/.test(from) ? '\0no-programs' : null),
  },
  load: { filter: { id: /^\0no-programs$/ }, handler: () => 'export {};' },
};

/** Node 20 compiles a function in parentheses with its file, but not an arrow function: that is read twice. */
const compiledAtOnce = {
  name: 'compiled-at-once',
  renderChunk: (code) => code.replace(/__commonJSMin\(\(\(([^()]*)\) => \{/g, '__commonJSMin((function ($1) {'),
};

/** Leaves out what the other commands load on demand: `main.ts` starts none of them from this pack. */
const onlyWorker = {
  name: 'only-worker',
  resolveDynamicImport(id, from) {
    const isAction = from.endsWith(`${sep}command.js`) && !/\/(serve-worker|check-upgrade|versions)\.js$/.test(id);
    return isAction ? { id, external: true } : null;
  },
};

function groupsOf(dist) {
  const reached = new Map();
  const isOf = (file, context) => {
    if (!reached.has(file)) reached.set(file, reachedFrom(join(dist, file), context));
    return reached.get(file);
  };
  return chunks.map(([name, ...files], index) => ({
    name: (id, context) => (files.some((file) => isOf(file, context).has(id)) ? name : null),
    debugName: name,
    priority: chunks.length - index,
  }));
}

function reachedFrom(start, context) {
  const reached = new Set();
  const open = [start];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (reached.has(id)) continue;
    reached.add(id);
    open.push(...(context.getModuleInfo(id)?.importedIds ?? []));
  }
  return reached;
}

function isPackage(id) {
  return !isAbsolute(id) && !id.startsWith('.');
}

function isUnpacked(id) {
  return unpacked.some((name) => id === name || id.startsWith(`${name}/`));
}
