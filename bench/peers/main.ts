/**
 * Compares ways to do the same job in one run: scripts, plain Temporal, sandflow. Only the ratios within one run count,
 * since machines differ and are busy. Everything runs on the loopback interface, and ends with this process.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { readConfig } from '../../src/config.js';
import { findTemporalServer } from '../../src/temporal-server/find.js';
import { encryptedBundle, unencryptedBundle } from '../../src/worker/index.js';
import { fileCostUs } from '../measure/file-cost.js';
import { measureCost, type Sample } from './cost.js';
import { describeCost, describeHops } from './cost-report.js';
import { type FaultResult, measureFaults } from './faults.js';
import { describeFaults } from './faults-report.js';
import { type PeerOptions, readOptions, usage } from './options.js';
import type { Workshop } from './peer.js';

const say = (line: string) => void process.stderr.write(`${line}\n`);
const print = (text: string) => void process.stdout.write(`${text}\n\n`);

async function makeWorkshop(directory: string): Promise<Workshop> {
  const { signal } = new AbortController();
  const { cacheDirectory } = readConfig();
  const temporalBinary = await findTemporalServer({ cacheDirectory, onProgress: say, signal });
  const bundle = async (name: string, workflows: string, options: object) => {
    const workflowsPath = fileURLToPath(new URL(workflows, import.meta.url));
    const { code } = await bundleWorkflowCode({ ...options, workflowsPath, logger: new DefaultLogger('WARN') });
    const path = join(directory, name);
    await writeFile(path, code);
    return path;
  };
  return {
    directory,
    temporalBinary,
    bundlePaths: {
      sandflow: await bundle('sandflow-workflows.js', '../../workflows/index.js', unencryptedBundle),
      encrypted: await bundle('encrypted-workflows.js', '../../workflows/index.js', encryptedBundle),
      plain: await bundle('plain-workflows.js', './plain/workflow.js', {}),
    },
  };
}

async function run(options: PeerOptions): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'sandflow-peers-'));
  const loadBefore = loadavg()[0];
  const fileUs = fileCostUs(directory);
  const workshop = await makeWorkshop(directory);
  const cost: Sample[] = [];
  const faults: FaultResult[] = [];
  const save = async () => {
    const load = { before: loadBefore, after: loadavg()[0] };
    if (cost.length > 0) print(describeCost(cost));
    if (options.trace) print(describeHops(cost));
    if (faults.length > 0) print(describeFaults(faults));
    print(
      `Load of the machine before and after: ${load.before?.toFixed(1)} and ${load.after?.toFixed(1)}. A new file in ${tmpdir()} costs ${fileUs} µs of CPU time.`,
    );
    const numbers = { at: new Date().toISOString(), load, fileUs, options, cost, faults };
    await writeFile(options.outFile, `${JSON.stringify(numbers, null, 2)}\n`);
    say(`The numbers are in ${options.outFile}.`);
  };
  const clear = () => rm(directory, { recursive: true, force: true });
  // An interrupted run shows what it has measured. Its processes end with this one.
  const interrupt = async () => {
    await save().finally(clear);
    process.exit(130);
  };
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => void interrupt());
  try {
    if (options.faults) {
      await measureFaults(workshop, options, { onProgress: say, onResult: (result) => void faults.push(result) });
    } else {
      await measureCost(workshop, options, { onProgress: say, onResult: (sample) => void cost.push(sample) });
    }
  } catch (error) {
    say(`The logs of its processes are kept in ${directory}.`);
    throw error;
  } finally {
    await save();
  }
  await clear();
}

const options = (() => {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    say(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return undefined;
  }
})();
if (options === undefined) process.exitCode = 2;
else if (options === 'help') print(usage);
else await run(options);
