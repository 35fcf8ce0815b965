import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkModules } from '../../../src/temporal-server/check-modules.js';
import { createWorkshop } from './fixture.js';

const main = 'mod\tgithub.com/temporalio/cli\tv1.5.1\t';
const used = 'dep\texample.com/used\tv1.0.0\th1:abc=';
const published = 'example.com/used v1.0.0 h1:abc=';

describe('the modules that a binary names', () => {
  let workshop: ReturnType<typeof createWorkshop>;
  let lines: string[];
  beforeEach(() => {
    workshop = createWorkshop();
    lines = [];
  });
  afterEach(() => workshop.remove());

  interface Go {
    readonly named?: readonly string[];
    readonly goSum?: string;
    readonly database?: string;
    readonly download?: string;
  }
  const fakeGo = ({ named = [main, used], goSum = published, database = 'sum.golang.org', download = '' }: Go) =>
    workshop.program(
      'go',
      `case $1 in
        version) printf '%b' '${['binary: go1.25.0', ...named].join('\\n\\t')}\\n';;
        env) echo '${database}';;
        mod) ${download || ':'}
          [ "$3" = github.com/temporalio/cli@v1.5.1 ] && [ "$GONOSUMDB" = none ] || exit 9
          mkdir -p "$GOMODCACHE/$3"; echo '${goSum}' > "$GOMODCACHE/$3/go.sum";;
      esac`,
    );
  const check = (go: string, checkTimeoutMs = 600_000) =>
    checkModules({
      directory: workshop.directory,
      binary: join(workshop.directory, 'temporal'),
      onProgress: (line) => void lines.push(line),
      go,
      checkTimeoutMs,
    });

  it('are accepted if the checksum database confirms them', async () => {
    await check(fakeGo({}));
    expect(lines).toEqual(["the modules that the binary names are those that Go's checksum database confirms"]);
  });

  it.each<[string, Go, string]>([
    [
      'another version was built',
      { named: [main.replace('v1.5.1', 'v1.5.0'), used] },
      'was built from "github.com/temporalio/cli v1.5.0"',
    ],
    [
      'another module was built',
      { named: [main.replace('temporalio', 'other'), used] },
      'was built from "github.com/other/cli v1.5.1"',
    ],
    [
      'another version was built, even without a network',
      { named: [main.replace('v1.5.1', 'v1.5.0'), used], download: 'exit 1' },
      'was built from "github.com/temporalio/cli v1.5.0"',
    ],
    ['it names no module at all', { named: [] }, 'was built from ""'],
    ['it uses no modules', { named: [main] }, 'names no modules'],
    [
      'a sum differs',
      { goSum: published.replace('abc', 'xyz') },
      'does not confirm the module example.com/used v1.0.0 h1:abc=',
    ],
    ['a module is not in the sums', { goSum: '' }, 'does not confirm the module example.com/used'],
    [
      'a module was replaced',
      { named: [main, used, '=>\t./elsewhere\t(devel)\t'] },
      'does not confirm the module ./elsewhere',
    ],
  ])('are refused if %s', async (_what, go, expected) => {
    await expect(check(fakeGo(go))).rejects.toThrow(expected);
    await expect(check(fakeGo(go))).rejects.toThrow(/^REFUSED: /);
  });

  it.each<[string, Go, string]>([
    ['the database is turned off', { database: 'off' }, 'GOSUMDB=off'],
    [
      'no network is there',
      { download: 'echo "go: https://u:secret@proxy.example: no such host" >&2; exit 1' },
      '//***@proxy.example: no such host',
    ],
  ])('are not checked if %s, which is said in one line', async (_what, go, expected) => {
    await check(fakeGo(go));
    expect(lines).toEqual([
      expect.stringMatching(/^the modules of the Temporal server were not compared with .*[^\n]*$/),
    ]);
    expect(lines[0]).toContain(expected);
  });

  it('are not checked if the database does not answer', async () => {
    await check(fakeGo({ download: 'while :; do :; done' }), 300);
    expect(lines).toEqual([expect.stringContaining('no answer came for 0.3 s')]);
  });

  it('are not checked without Go', async () => {
    await check(workshop.missing);
    expect(lines).toEqual([]);
  });
});
