// Compiles the TypeScript and bundles the workflows once, so that a worker starts without running a bundler.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');
rmSync(dist, { recursive: true, force: true });

const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
const compiled = spawnSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json')], { stdio: 'inherit' });
if (compiled.status !== 0) process.exit(compiled.status ?? 1);

const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
const { code } = await bundleWorkflowCode({
  workflowsPath: join(dist, 'workflows', 'index.js'),
  logger: new DefaultLogger('WARN'),
});
writeFileSync(join(dist, 'workflow-bundle.js'), code);

const main = join(dist, 'src', 'cli', 'main.js');
if (existsSync(main)) chmodSync(main, 0o755);
