import { describe, expect, test } from 'vitest';
import { readConfig } from '../../../../src/config.js';
import { readSource } from '../source-imports.js';
import { compose, serviceOf, services } from './compose-file.js';

interface Seccomp {
  readonly defaultAction: string;
  readonly syscalls: readonly {
    readonly names: readonly string[];
    readonly action: string;
    readonly args?: readonly unknown[];
    readonly includes?: { readonly caps?: readonly string[] };
  }[];
}

describe('the profile `local`', () => {
  /** The networks of a service. */
  const networksOf = (name: string): readonly string[] => {
    const { networks = ['default'], network_mode: mode = '' } = serviceOf(name);
    return mode === 'none' ? [] : networks;
  };
  const inProfile = services.filter(([, { profiles = [] }]) => profiles.includes('local')).map(([name]) => name);
  const others = services.map(([name]) => name).filter((name) => !inProfile.includes(name));
  const settingOf = (name: string, setting: string) => serviceOf(name).environment?.[setting];

  test.each([
    'SANDFLOW_TASK_QUEUE',
    'TEMPORAL_NAMESPACE',
    'SANDFLOW_DEPLOYMENT',
    'SANDBOX_API_URL',
    'SANDBOX_API_KEY_FILE',
  ])('has its own %s', (setting) => {
    const values = (names: readonly string[]) =>
      new Set(names.map((name) => settingOf(name, setting)).filter((value) => value !== undefined));
    expect(values(inProfile).size).toBe(1);
    expect([...values(inProfile)].filter((value) => values(others).has(value))).toEqual([]);
  });

  test('runs sandboxes without access to Temporal and its database', () => {
    const reached = (from: string) =>
      services
        .map(([name]) => name)
        .filter((name) => networksOf(name).some((network) => networksOf(from).includes(network)));
    expect(reached('local').sort()).toEqual(['local', 'local-bridge', 'local-webhook', 'local-worker']);
    expect(reached('postgresql').sort()).toEqual(['postgresql', 'temporal', 'temporal-schema']);
    const named = services.flatMap(([name]) => networksOf(name));
    expect(named.filter((network) => !(network in compose.networks))).toEqual([]);
  });

  test('lets sandboxes read no secret except the key of their own service', () => {
    const volumesOf = (name: string) => (serviceOf(name).volumes ?? []).map((volume) => volume.split(':', 1)[0]);
    expect(serviceOf('local').secrets).toBeUndefined();
    expect(serviceOf('local').environment).toBeUndefined();
    const shared = services.filter(
      ([name]) => name !== 'local' && volumesOf(name).some((one) => volumesOf('local').includes(one)),
    );
    for (const [, { volumes = [] }] of shared) {
      expect(volumes).toContain('sandflow-local:/var/lib/sandflow-local:ro');
      expect(volumes.filter((volume) => volume.endsWith(':/var/lib/sandflow'))).toEqual([
        'sandflow-local-work:/var/lib/sandflow',
      ]);
    }
    expect(shared.map(([name]) => name).sort()).toEqual(['local-bridge', 'local-webhook', 'local-worker']);
  });

  test('treats a service with a missing address as an error, not as a local one', () => {
    const { environment = {} } = serviceOf('worker');
    // An unset variable has the default of its placeholder.
    const unset = (value: string) => value.replace(/^\$\{\w+:-(.*)\}$/, '$1');
    const forgotten = Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, unset(value)]));
    expect(forgotten).toMatchObject({ SANDBOX_API_URL: '', SANDFLOW_ENCRYPTION_KEYS_FILE: '' });
    expect(readConfig(forgotten).noLocalService).toMatch(/SANDBOX_API_KEY_FILE is set without SANDBOX_API_URL/);
  });

  test('lets bubblewrap isolate the sandboxes, by the default profile of Docker and the calls that it needs', () => {
    const profile = 'seccomp=deploy/compose/seccomp.json';
    expect(serviceOf('local').security_opt).toEqual(
      expect.arrayContaining([profile, 'apparmor=unconfined', 'systempaths=unconfined']),
    );
    const unconfined = services.filter(([, { security_opt = [] }]) => security_opt.length > 1);
    expect(unconfined.map(([name]) => name)).toEqual(['local']);
    const { defaultAction, syscalls } = JSON.parse(readSource('deploy/compose/seccomp.json')) as Seccomp;
    expect(defaultAction).toBe('SCMP_ACT_ERRNO');
    const unconditional = syscalls.filter(({ includes, args }) => !includes && !args).at(-1);
    const calls = ['clone', 'mount', 'pivot_root', 'sethostname', 'setns', 'umount2', 'unshare'];
    expect(unconditional).toMatchObject({ names: calls, action: 'SCMP_ACT_ALLOW' });
    const others = syscalls.filter((rule) => rule !== unconditional && !rule.includes?.caps && !rule.args);
    const allowed = others.flatMap(({ names, action }) => (action === 'SCMP_ACT_ALLOW' ? names : []));
    expect(allowed.filter((call) => calls.includes(call) || call === 'bpf')).toEqual([]);
  });
});
