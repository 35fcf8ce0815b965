import { afterEach, describe, expect, it, vi } from 'vitest';
import { askedToEnd } from '../../../src/os/end-signals.js';

const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
type Name = (typeof names)[number];

/** Calls only the listeners of the code under test: the process is that of the tests. */
function signals(isIgnored?: boolean) {
  const before = names.map((name) => [name, process.listeners(name)] as const);
  const codes: number[] = [];
  const asked = askedToEnd((code) => codes.push(code), isIgnored);
  const own = new Map(
    before.map(([name, others]) => [name, process.listeners(name).filter((one) => !others.includes(one))] as const),
  );
  for (const [name, added] of own) for (const listener of added) process.off(name, listener);
  const send = (name: Name) => {
    for (const listener of own.get(name) ?? []) listener(name);
  };
  return { asked, codes, send };
}

afterEach(() => vi.unstubAllEnvs());

describe('the signals that end a process', () => {
  it.each<[Name[], boolean, Name | undefined, number[]]>([
    [['SIGINT'], false, 'SIGINT', []],
    [['SIGTERM'], false, 'SIGTERM', []],
    [['SIGHUP'], false, 'SIGHUP', []],
    // A second wish of a person cuts the orderly end short.
    [['SIGINT', 'SIGINT'], false, 'SIGINT', [130]],
    [['SIGTERM', 'SIGINT'], false, 'SIGTERM', [130]],
    [['SIGHUP', 'SIGTERM'], false, 'SIGHUP', [143]],
    // A shell and its terminal send one each; a service manager sends one after SIGTERM.
    [['SIGHUP', 'SIGHUP'], false, 'SIGHUP', []],
    [['SIGTERM', 'SIGHUP'], false, 'SIGTERM', []],
    [['SIGINT', 'SIGHUP', 'SIGHUP'], false, 'SIGINT', []],
    [['SIGHUP', 'SIGHUP'], true, undefined, []],
    [['SIGHUP', 'SIGTERM', 'SIGHUP'], true, 'SIGTERM', []],
  ])('%j with SIGHUP ignored: %s ends it by %s and exits with %j', (sent, isIgnored, reason, exits) => {
    const { asked, codes, send } = signals(isIgnored);
    for (const name of sent) send(name);
    expect(asked.reason).toBe(reason);
    expect(codes).toEqual(exits);
  });

  it.each([
    ['/usr/bin/nohup', undefined],
    ['nohup', undefined],
    ['/usr/bin/node', 'SIGHUP'],
    ['/usr/local/bin/nohup.sh', 'SIGHUP'],
    ['', 'SIGHUP'],
  ])('of a program that the shell started as %j, a SIGHUP ends it by %s', (program, reason) => {
    vi.stubEnv('_', program);
    const { asked, send } = signals();
    send('SIGHUP');
    expect(asked.reason).toBe(reason);
  });
});
