import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { claimText, markerWord, recoverText, removalText } from '../../../activities/sandbox/command-marker.js';
import { createLocalService, type LocalService } from '../../../local-service/src/index.js';
import { createSandboxClient, type SandboxClient } from '../../../src/client/index.js';

const hasBubblewrap = (() => {
  try {
    execFileSync('bwrap', ['--ro-bind', '/', '/', 'true']);
    return true;
  } catch {
    return false;
  }
})();

const commands = {
  'both outputs and a code': 'echo a; echo b >&2; exit 3',
  'codes that look like signals': '(exit 137); echo $?; exit 143',
  'the highest code': 'exit 255',
  'a signal that kills': 'kill -9 $$',
  'a signal that asks': 'echo before; kill -TERM $$; echo never',
  'a signal to what it runs': 'sh -c "kill -9 \\$\\$"; echo $?',
  'folder and variables': 'pwd | sed s/[^/]*$//; env | grep -v "^SANDBOX_API" | sort',
  arguments: 'echo "$0" $# "$-"',
  'standard input': 'cat; echo end',
  descriptors: 'for fd in 3 4 5 6 7 8 9; do [ -e /proc/self/fd/$fd ] && echo $fd; done; true',
  'a quote that is not closed': 'echo "unbalanced',
  'an operator without its end': 'true &&',
  'set -e': 'set -e; false; echo never',
  traps: 'trap "echo bye" EXIT; trap; exit 4',
  exec: 'exec echo replaced',
  'a here-document': 'cat <<X\n$HOME \'quoted\' "twice" \\$\nX',
  'no newline at the end': 'printf none',
  'newlines at the end': 'echo x\n\n\n',
  'bytes that are no text': 'printf "\\377\\001\\200"',
  'megabytes on both': 'head -c 5000000 /dev/zero | tr "\\0" o; head -c 4000000 /dev/zero | tr "\\0" e >&2',
  'a child in the background': 'sleep 20 & echo started',
  'a program that is not there': 'no-such-program',
  // The limit of a file follows the room on the disk, which changes from command to command.
  limits: 'ulimit -n; umask',
  comment: '# nothing',
  'a long text': `: ${'x'.repeat(100_000)}; echo long`,
} as const;

describe.each(['plain', 'bubblewrap'] as const)('with isolation %s, a command with a marker', (isolation) => {
  let directory: string;
  let service: LocalService | undefined;
  let api: SandboxClient;
  let id: string;
  beforeAll(async () => {
    if (isolation === 'bubblewrap' && !hasBubblewrap) return;
    directory = await mkdtemp(join(tmpdir(), 'sandflow-marked-'));
    service = await createLocalService({
      directory,
      apiKey: 'k',
      isolation,
      log: () => undefined,
      timings: { bootMs: 1 },
    });
    const { url } = await service.listen();
    api = createSandboxClient({ baseUrl: url, apiKey: 'k', timeoutMs: 300_000 });
    ({
      sandbox: { id },
    } = await api.createSandbox({ name: 'marked' }));
    await vi.waitFor(async () => expect((await api.getSandbox(id)).sandbox.state).toBe('ready'), 120_000);
  });
  afterAll(async () => {
    await api?.close();
    await service?.close();
    if (directory) await rm(directory, { recursive: true, force: true });
  });
  const ran = async (command: string, timeoutSeconds = 300) => {
    const { exitCode, stdout, stderr, timedOut } = await api.runCommand(id, { command, timeoutSeconds });
    return { exitCode, stdout, stderr, timedOut };
  };
  const newName = () => `${id}-test-${randomBytes(6).toString('hex')}`;
  const cases = Object.entries(commands);

  it.skipIf(isolation === 'bubblewrap' && !hasBubblewrap).each(cases)(
    'behaves like one without a marker: %s',
    async (_, command) => {
      const without = await ran(command);
      const name = newName();
      expect(await ran(claimText(id, name, command))).toEqual(without);
      expect(await ran(recoverText(name))).toEqual(without);
      expect(markerWord(name, (await ran(claimText(id, name, command))).stderr)).toBe('taken');
      await ran(removalText(id));
      expect((await ran(`ls -d /tmp/.sandflow-${id}-*`)).exitCode).not.toBe(0);
    },
  );

  it.skipIf(isolation === 'bubblewrap' && !hasBubblewrap)(
    'ends at its time limit with its output so far, and is detected as dead',
    async () => {
      let stdout = '';
      // On a busy machine the command may take longer to start than its time limit.
      for (let seconds = 1; stdout === ''; seconds *= 2) {
        const name = newName();
        const cut = await ran(claimText(id, name, 'echo before; sleep 600; echo never'), seconds);
        expect(cut).toMatchObject({ exitCode: null, stderr: '', timedOut: true });
        stdout = cut.stdout;
        if (stdout !== '') expect(markerWord(name, (await ran(recoverText(name))).stderr)).toBe('died');
        await ran(removalText(id));
      }
      expect(stdout).toBe('before\n');
    },
  );

  it.skipIf(isolation === 'bubblewrap' && !hasBubblewrap)(
    'runs once if started several times at once, is awaited, and never starts after a lookup',
    async () => {
      const name = newName();
      const text = claimText(id, name, 'echo ran >> runs; sleep 2; cat runs');
      const copies = await Promise.all([text, text, text, text].map((copy) => ran(copy)));
      expect(copies.filter(({ stdout }) => stdout === 'ran\n')).toHaveLength(1);
      const other = newName();
      const slow = ran(claimText(id, other, 'until test -e go; do sleep 0.05; done; sleep 2; echo slow'));
      await expect.poll(async () => (await ran(`ls -d /tmp/.sandflow-${other}`)).exitCode).toBe(0);
      expect(markerWord(other, (await ran(recoverText(other, 0))).stderr)).toBe('running');
      const recovered = ran(recoverText(other));
      await ran('touch go');
      expect(await recovered).toEqual(await slow);
      const late = newName();
      expect(markerWord(late, (await ran(recoverText(late))).stderr)).toBe('not_begun');
      expect(markerWord(late, (await ran(claimText(id, late, 'echo late >> runs'))).stderr)).toBe('taken');
      expect((await ran('cat runs')).stdout).toBe('ran\n');
      await ran(`rm -rf /tmp/.sandflow-${id}-*`);
    },
  );
});
