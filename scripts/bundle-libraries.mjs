// Puts libraries into the build that a package manager would install worse, so that the package does not depend on them:
// - fastify's tree admits packages of a newer Node than ours, and Yarn 1 then refuses to install (decision 7).
// - ssh2 compiles itself while it is installed, for which it downloads the headers of Node. It works without that.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { rolldown } from 'rolldown';
import { packagesOf } from './third-party-licenses.mjs';

const require = createRequire(import.meta.url);
const libraries = ['fastify', 'ssh2'];
/** Native parts of ssh2, which it does without if they are missing, as they always are here. */
const missing = ['cpu-features', /\.node$/];

/**
 * @param build the folder of a build. Its files then import the libraries from the folder `libraries` in it.
 * @returns the folders of the packages whose code is in them
 */
export async function bundleLibraries(build) {
  const folder = join(build, 'libraries');
  const packages = [];
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
    packages.push(...packagesOf(output));
  }
  importBundled(build, folder);
  return packages;
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
