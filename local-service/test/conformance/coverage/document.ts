/** The text of docs/maintainers/coverage.md. */
import { endpointTable } from './endpoint-table.js';
import type { NamedTest } from './named-test.js';
import { ruleTables } from './rule-tables.js';

interface CoverageDocument {
  readonly text: string;
  /** Parts of the specification that the project lacks. */
  readonly gaps: readonly string[];
}

export async function coverageDocument(tests: readonly NamedTest[]): Promise<CoverageDocument> {
  const endpoints = await endpointTable();
  const rules = ruleTables(tests);
  const gaps = [...endpoints.missing, ...rules.untested.map((id) => `${id}: no test`)];
  const text = `# Coverage of the specification

Written by \`npm run coverage\` from the contract (\`src/contract/\`), the catalogue of rules (\`local-service/test/conformance/rules/\`) and
the tests of the conformance suite (\`local-service/test/conformance/\`). Do not edit it.

Parentheses after a test name its needs: \`clock\`, \`faults\` or \`local\`. Tests with needs are skipped if the suite runs against
another service than the local one (\`SANDFLOW_CONFORMANCE_URL\`, \`SANDFLOW_CONFORMANCE_KEY\`).

## Totals

A rule has a test if a test names it. That alone does not show that the test fails when the rule is broken. The traps repeat
rules of other areas, so the sum leaves them out.

${rules.totals}

## Endpoints

${endpoints.markdown}

## Rules

${rules.markdown}
${endpoints.missing.length > 0 ? `\n## Missing\n\n${endpoints.missing.map((gap) => `- ${gap}`).join('\n')}\n` : ''}`;
  return { text, gaps };
}
