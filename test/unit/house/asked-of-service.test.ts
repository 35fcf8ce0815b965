import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readSource, repository } from './source-imports.js';

/**
 * Optional reads: a price, when a kept sandbox stops itself, whether a job works in a sandbox that is to be stopped, the
 * history of a sandbox while somebody looks, which has pauses of its own, whether a bridge is registered, and the checks
 * of what is named, which no missing answer holds back.
 */
const lookedAtInPassing = [
  'src/cli/connect/check-source.ts',
  'src/cli/connect/check-wanted.ts',
  'src/cli/output/price.ts',
  'src/cli/run/kept-sandbox.ts',
  'src/cli/stops/work-in-sandboxes.ts',
  'src/cli/transcript/history-reader.ts',
  'src/cli/webhooks/polled-waits.ts',
];
const theirOwnFiles = ['src/cli/connect/ask-service.ts'];

test('every read of a command uses the retries of `reads`', () => {
  const files = readdirSync(join(repository, 'src/cli'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `src/cli/${file}`);
  const direct = files.filter((file) => /\b(service|client|api)\.(get|list)[A-Z]\w*\(/.test(readSource(file)));
  expect(direct.sort()).toEqual([...lookedAtInPassing, ...theirOwnFiles].sort());
});
