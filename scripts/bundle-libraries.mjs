// Puts libraries into the build that a package manager would install worse, so that the package does not depend on them:
// - fastify's tree admits packages of a newer Node than ours, and Yarn 1 then refuses to install (decision 7).
// - ssh2 compiles itself while it is installed, for which it downloads the headers of Node. It works without that.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { rolldown } from 'rolldown';

const require = createRequire(import.meta.url);
const libraries = ['fastify', 'ssh2'];
/** Native parts of ssh2, which it does without if they are missing, as they always are here. */
const missing = ['cpu-features', /\.node$/];

/** @param build the folder of a build. Its files then import the libraries from the folder `libraries` in it. */
export async function bundleLibraries(build) {
  const folder = join(build, 'libraries');
  const packages = new Map();
  for (const name of libraries) {
    const bundle = await rolldown({ input: require.resolve(name), platform: 'node', external: missing });
    const { output } = await bundle.write({
      file: join(folder, `${name}.cjs`),
      // As the libraries are: ssh2 asks for its `__dirname`.
      format: 'cjs',
      // Names stay, for stack traces; and so does what a licence asks to keep.
      minify: { compress: true, mangle: false, codegen: true },
      comments: { legal: true, annotation: false, jsdoc: false },
    });
    await bundle.close();
    for (const module of output.flatMap(({ moduleIds = [] }) => moduleIds)) {
      const found = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(module);
      if (found) packages.set(found[0], licenceOf(found[0]));
    }
  }
  const licences = [...packages.values()].sort().join(`\n${'-'.repeat(80)}\n\n`);
  writeFileSync(join(folder, 'LICENSES.txt'), licences);
  importBundled(build, folder);
}

/** @throws if the package has no licence that could be passed on */
function licenceOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file && !license) throw new Error(`${name} has no licence, so it cannot be bundled.`);
  const text = file ? readFileSync(join(folder, file), 'utf8') : `${license}\n`;
  return `${name} ${version}\n\n${text}`;
}

function importBundled(build, folder) {
  const imports = new RegExp(`(?<=^import .* from ')(?:${libraries.join('|')})(?=';$)`, 'gm');
  const used = new Set();
  for (const name of readdirSync(build, { recursive: true })) {
    const path = join(build, name);
    if (!name.endsWith('.js') || path.startsWith(folder)) continue;
    const code = readFileSync(path, 'utf8');
    const changed = code.replaceAll(imports, (library) => {
      used.add(library);
      return relative(dirname(path), join(folder, `${library}.cjs`)).replace(/^(?!\.)/, './');
    });
    if (changed !== code) writeFileSync(path, changed);
  }
  const unused = libraries.filter((library) => !used.has(library));
  if (unused.length > 0) throw new Error(`Nothing in the build imports ${unused.join(', ')}.`);
}
