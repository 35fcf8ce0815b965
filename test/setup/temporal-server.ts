/** One Temporal server in memory and one bundle of the workflows, for all test files of a run. */
import { existsSync } from 'node:fs';
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
    /** A file with the bundle of `workflows/index.ts`, for a worker's `workflowBundle: { codePath }`. */
    workflowBundlePath: string;
  }
}

const workflowsPath = fileURLToPath(new URL('../../workflows/index.ts', import.meta.url));

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
    const bundlePath = join(directory, 'workflow-bundle.js');
    if (existsSync(workflowsPath)) {
      const { code } = await bundleWorkflowCode({
        ...unencryptedBundle,
        workflowsPath,
        logger: new DefaultLogger('WARN'),
      });
      await writeFile(bundlePath, code);
    }
    project.provide('temporalAddress', server.address);
    project.provide('workflowBundlePath', bundlePath);
    return teardown;
  } catch (error) {
    await teardown();
    throw error;
  }
}
