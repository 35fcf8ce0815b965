import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { dynamicConfig } from '../../../src/temporal-server/embedded.js';
import { grammarProblems } from './cli-grammar.js';
import { readSource, repository } from './source-imports.js';

const units = readdirSync(join(repository, 'deploy/systemd')).map((name) => {
  const text = readSource(`deploy/systemd/${name}`).replaceAll(/\\\n\s*/g, '');
  return { name, text, starts: /^ExecStart=(.*)$/m.exec(text)?.[1] ?? '' };
});
const ours = units.filter(({ starts }) => starts.includes('/.bin/sandflow '));

describe('deploy/systemd', () => {
  test('has the units of worker, bridge and codec server', () => {
    expect(ours.map(({ name }) => name)).toEqual([
      'sandflow-bridge.service',
      'sandflow-codec-server.service',
      'sandflow-worker@.service',
    ]);
  });

  test.each(ours)('$name runs a command of the command line', ({ starts }) => {
    const [, ...command] = starts.replaceAll('%i', '1').split(' ');
    expect(grammarProblems(command)).toEqual([]);
  });

  test.each(ours)('$name is not started again with settings that are wrong', ({ text }) => {
    expect(text).toMatch(/^Restart=always$/m);
    expect(text).toMatch(/^RestartPreventExitStatus=2$/m);
  });

  test('temporal.service has the dynamic configuration of the embedded server', () => {
    const { starts } = units.find(({ name }) => name === 'temporal.service') ?? { starts: '' };
    const given = [...starts.matchAll(/--dynamic-config-value (?:'(.*?)'|(\S+))/g)].map(
      ([, quoted, plain]) => quoted ?? plain,
    );
    const [last, ...others] = given.reverse();
    expect(others.reverse()).toEqual(dynamicConfig);
    expect(last).toBe('frontend.httpAllowedHosts=["temporal.invalid"]');
  });

  test('has every unit that docs/production.md starts', () => {
    const page = readSource('docs/production.md');
    const started = [...page.matchAll(/^systemctl --user (?:enable|disable|restart)(?: --now)? (.*)$/gm)]
      .flatMap(([, names = '']) => names.split(' '))
      .map((name) => `${name.replace(/@\d$/, '@')}.service`);
    expect([...new Set(started)].sort()).toEqual(units.map(({ name }) => name).sort());
  });
});
