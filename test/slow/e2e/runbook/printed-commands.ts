/** The commands that docs/runbook.md prints, for tests that run them. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { commandsIn } from '../../../e2e/cli/printed-commands.js';

const page = readFileSync(fileURLToPath(new URL('../../../../docs/runbook.md', import.meta.url)), 'utf8');
const sections = new Map(
  page
    .split(/^## /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')), section]),
);

/** The titles of all incidents. */
export const incidents: readonly string[] = [...sections.keys()];

/** The content of the first block of a language below the title. */
export function printedBlock(title: string, language: 'sh' | 'yaml'): string {
  const block = new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(sections.get(title) ?? '')?.[1];
  if (block === undefined) throw new Error(`docs/runbook.md has no ${language} block below "${title}".`);
  return block;
}

/**
 * The commands below the title, as arguments of `sandflow`.
 * @param values replace the placeholders, such as JOB
 */
export function printedCommands(title: string, values: Readonly<Record<string, string>> = {}): string[][] {
  return commandsIn(printedBlock(title, 'sh'), values);
}
