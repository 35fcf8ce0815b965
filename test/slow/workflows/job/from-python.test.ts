/** The lines of the library's page that start a job from Python, with `temporalio` from the index. Costs some 10 CPU seconds. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { readSource, repository } from '../../../unit/house/source-imports.js';
import { createStand, type Stand } from '../../../workflows/workflow-harness.js';

const execute = promisify(execFile);
const hasPython = spawnSync('python3', ['-c', 'import ensurepip, venv']).status === 0;
let stand: Stand;
let folder: string;
beforeAll(async () => {
  stand = await createStand();
  folder = mkdtempSync(join(tmpdir(), 'sandflow-python-'));
});
afterAll(async () => {
  await stand.close();
  rmSync(folder, { recursive: true });
});

it('the lines of docs/library.md start a job from Python, once', async (context) => {
  if (!hasPython) return context.skip('python3 with venv is missing');
  await execute('python3', ['-m', 'venv', folder]);
  const python = join(folder, 'bin', 'python');
  const installed = spawnSync(python, ['-m', 'pip', 'install', '--quiet', 'temporalio'], { encoding: 'utf8' });
  if (installed.status !== 0) return context.skip(`pip cannot install temporalio: ${installed.stderr}`);
  const [, lines = ''] = /```python\n(.*?)```/s.exec(readSource('docs/library.md')) ?? [];
  const file = join(folder, 'start.py');
  writeFileSync(file, lines);
  const schema = join(repository, 'docs', 'job-input.schema.json');
  const run = () => execute(python, [file, inject('temporalAddress'), stand.taskQueue, schema, 'from-python']);
  expect((await run()).stdout).toMatch(/^completed .*hello/i);
  await expect(run()).rejects.toThrow('WorkflowAlreadyStartedError');
  expect(stand.service.books.sandboxes()).toHaveLength(1);
});
