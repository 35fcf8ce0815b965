import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readSource, repository } from './source-imports.js';

/** Optional reads that are worth no retries: a price, and the agent's output during a watch. */
const lookedAtInPassing = ['src/cli/fanout/progress/price.ts', 'src/cli/run/agent-output.ts'];
const theirOwnFiles = ['src/cli/connect/ask-service.ts'];

test('D6: every read of a command uses the retries of `reads`', () => {
  const files = readdirSync(join(repository, 'src/cli'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `src/cli/${file}`);
  const direct = files.filter((file) => /\b(service|client|api)\.(get|list)[A-Z]\w*\(/.test(readSource(file)));
  expect(direct.sort()).toEqual([...lookedAtInPassing, ...theirOwnFiles].sort());
});
