/** Files as the editors of other systems save them: with a byte order mark, Windows line ends, or in UTF-16. */
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSecrets } from '../../../src/bridge/index.js';
import { createNotifySecrets } from '../../../src/notify/index.js';
import { apiKeyOf } from '../../../src/os/key-file.js';
import { prompts } from '../fanout/read.js';
import { readSource } from '../house/source-imports.js';
import { cli } from './in-process.js';
import { temporaryDirectory } from './temporary-directory.js';

const policy = readSource('examples/cleanup-policy.yaml').replaceAll('\n', '\r\n');
const job = 'prompt: hello\r\nnonsense: true\r\n';
/** The messages need no service: what is wrong with a file comes first. */
const nothing = { readConfig: () => Promise.reject(new Error('nothing was asked for')) };

async function fileOf(name: string, text: string, encoding: BufferEncoding = 'utf8') {
  const cwd = await temporaryDirectory();
  await writeFile(join(cwd, name), Buffer.from(`\uFEFF${text}`, encoding));
  return { cwd };
}

describe('a file with a byte order mark and Windows line ends', () => {
  it('is read as a policy', async () => {
    const { cwd } = await fileOf('policy.yaml', policy);
    const { exitCode, stdout, stderr } = await cli(['cleanup', 'validate', 'policy.yaml'], { cwd, ...nothing });
    expect({ exitCode, stdout, stderr }).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^nightly: \d+ rules/),
    });
  });

  it('is read as the file of a schedule', async () => {
    const { cwd } = await fileOf('job.yaml', job);
    const { exitCode, stderr } = await cli(['schedule', 'add', 'nights', 'job.yaml'], { cwd });
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringMatching(/nonsense/) });
  });

  it.each([
    ['items.csv', 'csv', 'prompt,team\r\nhello,blue\r\n'],
    ['items.txt', 'text', 'hello\r\n'],
    ['items.jsonl', 'jsonl', '{"prompt":"hello"}\r\n'],
    ['items.json', 'json', '[{"prompt":"hello"}]\r\n'],
  ] as const)('is read as items: %s', async (name, format, text) => {
    expect(await prompts(`\uFEFF${text}`, { format }), name).toEqual(['hello']);
  });
});

describe('a file in UTF-16', () => {
  it.each([
    ['policy.yaml', policy, ['cleanup', 'validate', 'policy.yaml']],
    ['job.yaml', job, ['schedule', 'add', 'nights', 'job.yaml']],
    ['items.csv', 'prompt\r\nhello\r\n', ['fanout', 'items.csv']],
    ['task.md', 'Say hello\r\n', ['run', 'task.md']],
  ])('is refused by its name: %s', async (name, text, args) => {
    const { cwd } = await fileOf(name, text, 'utf16le');
    const { exitCode, stderr } = await cli(args, { cwd });
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringMatching(new RegExp(`${name}.*UTF-8`)) });
  });
});

const signing = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const readers: readonly (readonly [string, string, (path: string) => Promise<unknown>])[] = [
  ['an API key', 'key_of_a_test', (apiKeyFile) => apiKeyOf({ apiKeyFile })],
  ['webhook secrets', signing, async (path) => (await readSecrets(path))[0]],
  ['notification secrets', signing, async (path) => (await createNotifySecrets(path)())[0]],
];

it.each(readers)('%s is read from a file of any editor, and refused in UTF-16', async (_, secret, read) => {
  const marked = await fileOf('secret', `${secret}\r\n`);
  await chmod(join(marked.cwd, 'secret'), 0o600);
  expect(await read(join(marked.cwd, 'secret'))).toBe(secret);
  const wide = await fileOf('secret', `${secret}\r\n`, 'utf16le');
  await chmod(join(wide.cwd, 'secret'), 0o600);
  await expect(read(join(wide.cwd, 'secret'))).rejects.toMatchObject({
    code: 'bad_configuration',
    message: expect.stringMatching(/is UTF-16\. Save it as UTF-8/),
  });
});
