/** Makes items of rows of SWE-bench. Their solutions and tests go nowhere: no prompt may show them. */
import { z } from 'zod';
import { checkInput, problemLine } from '../settings/input-problems.js';
import { shellWord } from '../texts/shell-word.js';
import { ItemsError, plainItem, type ReadLinesOptions } from './item-line.js';
import type { RecordReader } from './json-items.js';
import { createTemplate } from './template.js';

/** Where the clone is in the sandbox, as in `--get-diff=app`. */
const folder = 'app';
const secret: ReadonlySet<string> = new Set(['patch', 'test_patch']);
const text = z.string().refine((value) => value.trim() !== '', 'must not be empty');
const rowSchema = z.object({
  instance_id: text,
  repo: z.string().regex(/^[\w.-]+\/[\w.-]+$/, 'must be OWNER/NAME'),
  base_commit: z.string().regex(/^[0-9a-f]{7,64}$/i, 'must be the hash of a commit'),
  problem_statement: text,
  version: z.string().nullish(),
});

/**
 * The source of a row is a sandbox with a clone of its repository at its commit.
 * @param repositoryUrl the address of the repository: a template
 */
export function sweBenchItems(repositoryUrl: string, { template }: Pick<ReadLinesOptions, 'template'>): RecordReader {
  const url = createTemplate(repositoryUrl);
  return (place, record, allColumns) => {
    const { data: row, problems } = checkInput(rowSchema, record);
    if (problems !== null) {
      const way = 'A row of SWE-bench has instance_id, repo, base_commit and problem_statement.';
      throw new ItemsError(place, `${problems.map(problemLine).join('; ')}. ${way}`);
    }
    const columns = new Map([...allColumns].filter(([name]) => !secret.has(name)));
    const { repo, base_commit: commit, version } = row;
    const address = url.fill(columns, (why) => new ItemsError(place, `--repository-url: ${why}`));
    if (address.startsWith('-')) throw new ItemsError(place, '--repository-url: an address cannot begin with -.');
    return {
      ...plainItem,
      place,
      id: row.instance_id,
      prompts: template ? null : [{ prompt: row.problem_statement }],
      source: { setup: [`git clone -q ${shellWord(address)} ${folder} && git -C ${folder} checkout -q ${commit}`] },
      labels: { repo, base_commit: commit, ...(version != null && { version }) },
      columns,
    };
  };
}
