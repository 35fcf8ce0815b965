/** Programs that cannot be started. Gate; costs a third of a CPU second. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { shortageOf, systemReason } from '../../../src/os/start-program.js';

const program = fileURLToPath(new URL('../../../dist/src/os/start-program.js', import.meta.url));
const failed = (code: string) => Object.assign(new Error(`spawn tar ${code}`), { code });

it.each([
  ['EMFILE', /this process may open no more files.*`ulimit -n`/],
  ['ENFILE', /this machine has as many open files/],
  ['EAGAIN', /no more processes.*`ulimit -u`, or pids\.max/],
  ['ENOMEM', /no memory left/],
])('says what is short of %s', (code, reason) => {
  expect(systemReason(failed(code))).toMatch(reason);
});

it.each(['ENOENT', 'EACCES', 'ENOSPC', 'EPERM', 'toString', '__proto__'])('leaves %s to its own message', (code) => {
  expect(shortageOf(failed(code))).toBeUndefined();
  expect(systemReason(failed(code))).toBe(`spawn tar ${code}`);
});

it('gives a process with all of its pipes, or throws what is short, with each number of free descriptors', () => {
  const script = `
    import { closeSync, openSync } from 'node:fs';
    import { startProgram } from ${JSON.stringify(program)};
    const seen = new Set();
    for (let free = 0; free < 20; free += 1) {
      const taken = [];
      try { for (;;) taken.push(openSync('/dev/null')); } catch {}
      for (const one of taken.splice(0, free)) closeSync(one);
      try {
        const child = startProgram('true', [], { stdio: ['pipe', 'pipe', 'pipe'] });
        seen.add(typeof child.stdin.end + typeof child.stdout.on);
        await new Promise((resolve) => child.on('error', resolve).on('close', resolve));
      } catch (error) { seen.add(error.message); }
      for (const one of taken) closeSync(one);
    }
    process.stdout.write(JSON.stringify([...seen]));`;
  const args = ['-c', 'ulimit -n 100; exec "$@"', 'sh', process.execPath, '--input-type=module', '-e', script];
  expect(JSON.parse(execFileSync('/bin/sh', args, { encoding: 'utf8' }))).toEqual([
    'true cannot be started: this process may open no more files: raise its limit (`ulimit -n`), or run less at once',
    'functionfunction',
  ]);
});
