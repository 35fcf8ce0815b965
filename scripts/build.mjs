// Builds sandflow: compiles the TypeScript, bundles the workflows once, so that a worker starts without running a
// bundler, and packs the command line.
// With --if-changed, it does nothing if the last build had the same sources.
import { chmodSync, cpSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildPackage, repository } from './build-package.mjs';
import { packCommandLine } from './pack.mjs';
import { writeLicenses } from './third-party-licenses.mjs';

await buildPackage({
  home: repository,
  sources: ['src', 'workflows', 'activities'],
  async finish(fresh) {
    // Temporal's SDK loads this file by its path.
    const failureConverter = join('src', 'encryption', 'failure-converter.cjs');
    cpSync(join(repository, failureConverter), join(fresh, failureConverter));
    await bundleWorkflows(fresh);
    writeLicenses(join(fresh, 'third-party-licenses.txt'), await packCommandLine(fresh));
    chmodSync(join(fresh, 'src', 'cli', 'main.js'), 0o755);
  },
});

async function bundleWorkflows(fresh) {
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  const workflows = {
    workflowsPath: join(fresh, 'workflows', 'index.js'),
    logger: new DefaultLogger('WARN'),
    // Stack traces name files of the package, not of the machine that built it. Temporal needs a source map, but not the sources in it.
    webpackConfigHook: (config) => ({
      ...config,
      context: fresh,
      devtool: 'inline-nosources-source-map',
      output: {
        ...config.output,
        devtoolModuleFilenameTemplate: ({ absoluteResourcePath: path }) =>
          path.startsWith(fresh) ? join('dist', relative(fresh, path)) : path.replace(join(repository, '/'), ''),
      },
    }),
  };
  // The options name files of the same build.
  const { encryptedBundle, unencryptedBundle } = await import(
    pathToFileURL(join(fresh, 'src/worker/workflow-bundle.js')).href
  );
  const bundle = async (name, options) =>
    writeFileSync(join(fresh, name), (await bundleWorkflowCode({ ...workflows, ...options })).code);
  await bundle('workflow-bundle.js', unencryptedBundle);
  await bundle('workflow-bundle-encrypted.js', encryptedBundle);
}
