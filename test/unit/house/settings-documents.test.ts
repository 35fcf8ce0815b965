import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { batchFileSchema, type FileCommand, jobFileSchema } from '../../../src/cli/settings/file-schema.js';
import { type CommandSetting, settingsOn } from '../../../src/job-settings/fields.js';
import { durationText } from '../../../src/texts/duration.js';
import { jobInputSchema } from '../../../src/workflow-client/jobs/job-input.js';
import { readSource } from './source-imports.js';

const files = [
  ['job', 'run'],
  ['batch', 'fanout'],
] as const;

/** The schema of the files for editors. */
function fileJsonSchema(command: FileCommand): object {
  const schema = command === 'run' ? jobFileSchema : batchFileSchema;
  const title = `The file of a ${command === 'run' ? 'job' : 'batch'} of sandflow`;
  return { title, ...z.toJSONSchema(schema, { io: 'input' }) };
}

describe('npm run settings-documents writes what the documents say of settings', () => {
  it.each(files)('docs/%s.schema.json', async (name, command) => {
    await expect(`${JSON.stringify(fileJsonSchema(command), null, 2)}\n`).toMatchFileSnapshot(
      `../../../docs/${name}.schema.json`,
    );
  });

  it('docs/job-input.schema.json', async () => {
    const schema = { title: 'The input of a job of sandflow', ...z.toJSONSchema(jobInputSchema) };
    await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot('../../../docs/job-input.schema.json');
  });

  it('docs/settings.md', async () => {
    await expect(page()).toMatchFileSnapshot('../../../docs/settings.md');
  });
});

describe('the schema of files for editors', () => {
  const validators = Object.fromEntries(
    files.map(([name, command]) => [name, new Ajv2020({ strict: false }).compile(fileJsonSchema(command))]),
  );

  it.each(files)('accepts examples/%s.yaml', (name) => {
    const validate = validators[name];
    expect(validate?.(parse(readSource(`examples/${name}.yaml`))), JSON.stringify(validate?.errors)).toBe(true);
  });

  it.each([
    ['job', { prompt: 'hello', tpye: 'small' }],
    ['job', { prompt: 'hello', type: 'huge' }],
    ['job', { prompt: 'hello', id: 'one' }],
    ['batch', { items: [] }],
    ['batch', { prompt: 'hello' }],
    ['batch', { items: 'prompts.txt', concurrency: 0 }],
  ])('refuses the %s %j', (name, value) => {
    expect(validators[name]?.(value)).toBe(false);
  });
});

/** The page that lists every setting. */
function page(): string {
  const both = files.map(([, command]) => settingsOn(command));
  const names = [...new Set(both.flat().map(({ name }) => name))].sort();
  const rows = names.map((name) => {
    const [job, batch] = both.map((settings) => settings.find((one) => one.name === name));
    const one = job ?? batch;
    if (!one) throw new Error(`no setting ${name}`);
    const places = [
      ...(job ? ['run'] : []),
      ...(batch ? ['fanout'] : []),
      ...(one.item ? ['item'] : []),
      ...(job?.option.project || batch?.option.project ? ['project'] : []),
    ];
    const texts = [...new Set([job, batch].flatMap((setting) => (setting ? [meaning(setting)] : [])))];
    return `| \`${name}\` | \`${one.flag}\` | ${places.join(', ')} | ${texts.join('; ')} |`;
  });
  return `# Settings of jobs and batches

Every setting has one name. With dashes, it is an option of \`sandflow run\` or \`sandflow fanout\`; as it is here, a field of the file of a job
or a batch ([files](run.md#the-file-of-a-job)), of an item in JSONL and CSV (\`item\`), and of \`sandflow.json\` (\`project\`). Editors check and complete
files by [job.schema.json](job.schema.json) and [batch.schema.json](batch.schema.json).

| Setting | Option | Where | Meaning |
|---|---|---|---|
${rows.join('\n')}
`;
}

function meaning({ option, values, sets, kind, default: value }: CommandSetting): string {
  const known = sets === undefined && values ? [(option.values ?? values).join(', ')] : [];
  const shown = value == null || Array.isArray(value) || sets !== undefined || option.help.includes('(default');
  const text =
    kind === 'duration' ? durationText(Number(value)) : kind === 'ttl' ? durationText(Number(value) * 1_000) : value;
  const all = [...known, ...(shown ? [] : [`default ${String(text)}`])];
  return `${option.help}${all.length > 0 ? ` (${all.join('; ')})` : ''}`.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}
