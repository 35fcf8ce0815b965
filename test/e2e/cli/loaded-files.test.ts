/** How much of the packed program a command loads. The number of files does not depend on the speed of the machine. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CliHome, createCliHome } from './program.js';

const dist = new URL('../../../dist/', import.meta.url);
let cli: CliHome;
beforeAll(() => {
  cli = createCliHome();
});
afterAll(() => cli.close());

/** The files that the process of a command loads, relative to the build. Node writes them down for reports of coverage. */
async function loadedBy(
  args: readonly string[],
): Promise<{ readonly exitCode: number | null; readonly files: string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'sandflow-loaded-'));
  try {
    const { exitCode } = await cli.run(args, { NODE_V8_COVERAGE: folder });
    const reports = readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
    const [own] = reports.filter(({ result }) =>
      result.some(({ url }: { url: string }) => url === `${dist}src/cli/main.js`),
    );
    const urls: string[] = own.result.map(({ url }: { readonly url: string }) => url);
    return { exitCode, files: urls.filter((url) => url.startsWith('file:')).map((url) => url.replace(`${dist}`, '')) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('a command loads few files, and none of a package', () => {
  it.each([
    { args: ['--version'], most: 6 },
    { args: ['status'], most: 10 },
    { args: ['jobs', 'list'], most: 26 },
    {
      args: ['cleanup', 'plan', fileURLToPath(new URL('../../../examples/cleanup-policy.yaml', import.meta.url))],
      most: 30,
    },
    { args: ['run', 'Say hello'], most: 20 },
  ])('$args', async ({ args, most }) => {
    const { exitCode, files } = await loadedBy(args);
    expect(exitCode).toBe(0);
    expect(files).toContain('src/cli/start.js');
    expect(files.filter((file) => file.includes('node_modules'))).toEqual([]);
    expect(files.length).toBeLessThanOrEqual(most);
  });
});
