// Builds the package of the local service, which holds the few parts of sandflow that it shares.
// With --if-changed, it does nothing if the last build had the same sources.
import { chmodSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { rolldown } from 'rolldown';
import { buildPackage, repository } from './build-package.mjs';
import { bundleLibraries } from './bundle-libraries.mjs';
import { packagesOf, writeLicenses } from './third-party-licenses.mjs';

const home = join(repository, 'local-service');
const sources = join('local-service', 'src');

/** They are bundled already. */
const withoutLibraries = {
  name: 'without-libraries',
  resolveId: {
    filter: { id: /[\\/]libraries[\\/][^\\/]+\.cjs$/ },
    handler: (id, from) => ({ id: resolve(dirname(from), id), external: 'relative' }),
  },
};

await buildPackage({
  home,
  // It shares some folders of `src`.
  sources: [sources, 'src'],
  async finish(fresh) {
    const packages = [...(await bundleLibraries(fresh)), ...(await pack(fresh))];
    writeLicenses(join(fresh, 'third-party-licenses.txt'), packages);
    chmodSync(join(fresh, sources, 'program', 'main.js'), 0o755);
  },
});

/** Packs the library and the program, which then load a few files instead of some hundred. */
async function pack(fresh) {
  const dir = join(fresh, sources);
  const bundle = await rolldown({
    input: { index: join(dir, 'index.js'), 'program/main': join(dir, 'program', 'main.js') },
    cwd: fresh,
    platform: 'node',
    // It has native code.
    external: ['libsql'],
    plugins: [withoutLibraries],
  });
  const { output } = await bundle.write({
    dir,
    entryFileNames: '[name].js',
    chunkFileNames: 'packed/[name]-[hash].js',
    comments: { legal: true, annotation: false, jsdoc: false },
  });
  await bundle.close();
  const kept = new Set(output.map(({ fileName }) => join(dir, fileName)));
  for (const name of readdirSync(fresh, { recursive: true })) {
    const path = join(fresh, name);
    if (name.endsWith('.js') && !kept.has(path)) rmSync(path);
  }
  return packagesOf(output);
}
