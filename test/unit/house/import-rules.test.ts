import { describe, expect, test } from 'vitest';
import { violations, workflowSafe } from './import-rules.js';
import { importsIn, readSource, sourceFiles } from './source-imports.js';

const productFiles = sourceFiles('src', 'activities', 'workflows', 'local-service/src');

describe('imports', () => {
  test('every part imports only what the table of parts allows', () => {
    const found = productFiles.flatMap((file) => violations(file, importsIn(file, readSource(file))));
    expect(found).toEqual([]);
  });

  test.each([
    ['src/protocol/job/job-input.ts', `import { z } from 'zod';`],
    ['workflows/job/x.ts', `import { readFileSync } from 'node:fs';`],
    ['workflows/x.ts', `import { createActivities } from '../activities/index.js';`],
    ['workflows/x.ts', `import { endpoints } from '../src/contract/endpoints/endpoints.js';`],
    ['workflows/x.ts', `export * from '../src/contract/index.js';`],
    ['src/contract/workflow-safe/states.ts', `import { z } from 'zod';`],
    ['src/errors/sandflow-error.ts', `import { z } from 'zod';`],
    ['src/texts/length.ts', `import { z } from 'zod';`],
    ['workflows/x.ts', `import { checkInput } from '../src/settings/input-problems.js';`],
    ['src/os/x.ts', `import { isUsable } from '../contract/workflow-safe/states.js';`],
    ['src/errors/sandflow-error.ts', `import { endpoints } from '../contract/endpoints/endpoints.js';`],
    ['src/contract/endpoints/endpoints.ts', `import { ApiError } from '../../client/index.js';`],
    ['src/client/caller.ts', `import { sign } from '../webhook/index.js';`],
    ['local-service/src/http/x.ts', `import { ApiError } from '../../../src/client/index.js';`],
    ['src/cli/x.ts', `import { createLocalService } from '../../local-service/src/index.js';`],
    ['src/bridge/create-bridge.ts', `import { ApiError } from '../client/index.js';`],
    ['src/worker/x.ts', `const { readConfig } = await import('../config.js');`],
    ['activities/x.ts', `import {\n  createWorker,\n} from '../src/worker/index.js';`],
    ['src/nowhere/x.ts', ''],
  ])('refuses in %s: %s', (file, text) => {
    expect(violations(file, importsIn(file, text))).toHaveLength(1);
  });

  test.each([
    ['workflows/x.ts', `import type { SandflowActivities } from '../activities/index.js';`],
    ['workflows/x.ts', `import { isUsable } from '../src/contract/workflow-safe/states.js';`],
    ['activities/x.ts', `import type {\n  JobInput,\n} from '../src/protocol/job/job-input.js';`],
  ])('allows in %s: %s', (file, text) => {
    expect(importsIn(file, text)).toHaveLength(1);
    expect(violations(file, importsIn(file, text))).toEqual([]);
  });
});

test('the program loads no package but commander before it knows its command, so that help and wrong usage are quick', () => {
  const loaded = new Set(['src/cli/start.ts']);
  const packages: string[] = [];
  for (const file of loaded) {
    for (const { target, isOwn, isTypeOnly, isDynamic } of importsIn(file, readSource(file))) {
      if (isTypeOnly || isDynamic) continue;
      if (isOwn) loaded.add(target);
      else if (!target.startsWith('node:')) packages.push(`${file} -> ${target}`);
    }
  }
  expect(loaded.size).toBeGreaterThan(20);
  expect(packages.filter((name) => !/ -> (?:commander|@commander-js\/extra-typings)$/.test(name))).toEqual([]);
});

test('lint forbids packages and globals of Node in all that workflow code may import', () => {
  const { overrides } = JSON.parse(readSource('biome.json')) as { overrides: { includes: string[] }[] };
  const strict = overrides.find(({ includes }) => includes[0] === 'workflows/**');
  expect(strict?.includes).toEqual(['workflows/**', ...workflowSafe.map((folder) => `${folder}/**`)]);
});

describe('effects', () => {
  test('only the program itself exits and handles signals', () => {
    const effects = /\bprocess\.(?:exit\(|exitCode\b|on\()/;
    const found = productFiles.filter((file) =>
      readSource(file)
        .split('\n')
        .some((line) => effects.test(line)),
    );
    expect(found.sort()).toEqual(['local-service/src/program/main.ts', 'src/cli/main.ts', 'src/os/end-signals.ts']);
  });

  test('one file reads the settings from the environment, two what describes the terminal, and one the home folder', () => {
    const having = (read: RegExp) => productFiles.filter((file) => read.test(readSource(file)));
    const reading = having(/\bprocess\.env\b|\bprocess\['env'|from 'node:process'/);
    expect(reading).toEqual(['src/cli/main.ts', 'src/os/end-signals.ts', 'src/settings/environment.ts']);
    expect(having(/\bhomedir\(/)).toEqual(['src/os/home-folder.ts']);
  });
});
