/**
 * One Temporal server in memory and the bundles of workflows that several files use, for all test files of a run. The product's own
 * bundles are those of the build.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import type { TestProject } from 'vitest/node';
import { readConfig } from '../../src/config.js';
import { startEmbeddedServer } from '../../src/temporal-server/embedded.js';
import { findTemporalServer } from '../../src/temporal-server/find.js';
import { unencryptedBundle } from '../../src/worker/index.js';

declare module 'vitest' {
  export interface ProvidedContext {
    /** `host:port` of the server. Its namespace is `default`. */
    temporalAddress: string;
    /** The bundle of `workflows/index.ts`, for a worker's `workflowBundle: { codePath }`. */
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
    const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));
    project.provide('temporalAddress', server.address);
    project.provide('workflowBundlePath', pathOf('../../dist/workflow-bundle.js'));
    project.provide('encryptedBundlePath', pathOf('../../dist/workflow-bundle-encrypted.js'));
    const workflowsPath = pathOf('../activities/own/call-activity.ts');
    const { code } = await bundleWorkflowCode({
      ...unencryptedBundle,
      workflowsPath,
      logger: new DefaultLogger('WARN'),
    });
    const callActivityBundle = join(directory, 'call-activity.js');
    await writeFile(callActivityBundle, code);
    project.provide('callActivityBundlePath', callActivityBundle);
    return teardown;
  } catch (error) {
    await teardown();
    throw error;
  }
}
