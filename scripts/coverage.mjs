// Writes docs/maintainers/coverage.md from the contract, the catalogue of rules and the tests of the conformance suite.
// With --check, it writes nothing and ends with 1 if the file is out of date. With --gaps, it lists what is missing.
import { readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createVitest } from 'vitest/node';

const repository = fileURLToPath(new URL('../', import.meta.url));
const root = fileURLToPath(new URL('../local-service/', import.meta.url));
const file = fileURLToPath(new URL('../docs/maintainers/coverage.md', import.meta.url));
const args = process.argv.slice(2);

// Collect the suite for the local service, whatever the environment says.
delete process.env.SANDFLOW_CONFORMANCE_URL;
const vitest = await createVitest('test', { root, project: ['conformance'], watch: false, reporters: [{}] });
try {
  const { testModules, unhandledErrors } = await vitest.collect();
  const broken = testModules.flatMap((module) =>
    module.errors().map((error) => `${module.moduleId}: ${error.message}`),
  );
  const errors = [...broken, ...unhandledErrors.map(String)];
  if (errors.length > 0) throw new Error(`The conformance suite could not be collected.\n${errors.join('\n')}`);
  const tests = testModules
    .flatMap((module) => [...module.children.allTests()])
    .map((test) => {
      const { rules = [], needs = [] } = test.meta();
      return { file: relative(repository, test.module.moduleId), title: test.name, rules, needs };
    });
  const order = (left, right) => (left < right ? -1 : left > right ? 1 : 0);
  tests.sort((left, right) => order(left.file, right.file) || order(left.title, right.title));
  const { coverageDocument } = await vitest.import('./test/conformance/coverage/document.ts');
  const { text, gaps } = await coverageDocument(tests);
  if (args.includes('--gaps')) process.stdout.write(gaps.map((gap) => `${gap}\n`).join(''));
  if (!args.includes('--check')) writeFileSync(file, text);
  else if (readFileSync(file, 'utf8') !== text) {
    process.stderr.write('docs/maintainers/coverage.md is out of date. Run `npm run coverage`.\n');
    process.exitCode = 1;
  }
} finally {
  await vitest.close();
}
