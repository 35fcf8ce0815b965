/** One Temporal server in memory and the bundles of workflows that several files use, for all test files of a run. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import type { TestProject } from 'vitest/node';
import { readConfig } from '../../src/config.js';
import { startEmbeddedServer } from '../../src/temporal-server/embedded.js';
import { findTemporalServer } from '../../src/temporal-server/find.js';
import { encryptedBundle, unencryptedBundle } from '../../src/worker/index.js';

declare module 'vitest' {
  export interface ProvidedContext {
    /** `host:port` of the server. Its namespace is `default`. */
    temporalAddress: string;
    /** A file with the bundle of `workflows/index.ts`, for a worker's `workflowBundle: { codePath }`. */
    workflowBundlePath: string;
    /** The same workflows as encrypting workers have them. */
    encryptedBundlePath: string;
    /** A file with the bundle of `test/activities/own/call-activity.ts`. */
    callActivityBundlePath: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'sandflow-test-'));
  const onProgress = (line: string) => void process.stderr.write(`${line}\n`);
  const { cacheDirectory } = readConfig();
  const binary = await findTemporalServer({ cacheDirectory, onProgress });
  const server = await startEmbeddedServer({ binary, logFile: join(directory, 'temporal.log') });
  const teardown = async () => {
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const bundle = async (name: string, source: string, options: object) => {
      const workflowsPath = fileURLToPath(new URL(source, import.meta.url));
      const { code } = await bundleWorkflowCode({ ...options, workflowsPath, logger: new DefaultLogger('WARN') });
      const bundlePath = join(directory, `${name}.js`);
      await writeFile(bundlePath, code);
      return bundlePath;
    };
    const workflows = '../../workflows/index.ts';
    project.provide('temporalAddress', server.address);
    project.provide('workflowBundlePath', await bundle('unencrypted', workflows, unencryptedBundle));
    project.provide('encryptedBundlePath', await bundle('encrypted', workflows, encryptedBundle));
    const callActivity = '../activities/own/call-activity.ts';
    project.provide('callActivityBundlePath', await bundle('call-activity', callActivity, unencryptedBundle));
    return teardown;
  } catch (error) {
    await teardown();
    throw error;
  }
}
