/** `sandflow config`. Shows no secret. */
import { type Config, type ConnectionName, connectionVariables } from '../../config.js';
import type { CommandContext } from '../command.js';
import { printJson } from '../output/json.js';
import { formatTable } from '../output/table.js';
import { oneLine } from '../output/terminal-safe.js';
import { jobDefaults } from './job-defaults.js';
import { readProfile } from './profile.js';

interface Setting {
  readonly name: string;
  readonly value: string | null;
  readonly from: string;
}

/** @throws SandflowError as `readProfile` */
export async function showConfig({ json }: { readonly json?: boolean }, context: CommandContext): Promise<void> {
  const { io, profile: named } = context;
  const config = await io.readConfig();
  const profile = await readProfile(config, { named: named ?? config.profile, cwd: io.cwd });
  const { name = null, userFile = null, projectFile = null, layers } = profile;
  const defaults = (['run', 'fanout'] as const).flatMap((command) =>
    [...jobDefaults(command, {}, layers[command])].map(([option, { value, from }]) => ({
      name: `${command}.${option}`,
      value: [value].flat().join(', '),
      from,
    })),
  );
  const settings: Setting[] = [...connectionSettings(config, name), ...defaults];
  if (json) return printJson(io.stdout, { profile: name, userFile, projectFile, settings, error: null });
  const files = [
    ['profile', name ?? 'none'],
    ['your file', userFile ?? 'none'],
    ['project file', projectFile ?? 'none'],
  ];
  for (const [label = '', text = ''] of files) io.stdout.write(`${label.padEnd(14)}${oneLine(text)}\n`);
  const rows = settings.map((setting) => [setting.name, setting.value ?? '', setting.from]);
  io.stdout.write(`\n${formatTable(['SETTING', 'VALUE', 'FROM'], rows)}`);
}

function connectionSettings(config: Config, profile: string | null): Setting[] {
  const { sandboxService, temporal, deployment, taskQueue, results, origins = {}, home } = config;
  const values: Readonly<Record<ConnectionName, string | undefined>> = {
    apiUrl: sandboxService?.apiUrl,
    apiKeyFile: sandboxService?.apiKeyFile,
    temporalAddress: temporal.connect.connectionOptions.address,
    temporalNamespace: temporal.connect.namespace,
    temporalUi: temporal.uiUrl,
    ...{ deployment, taskQueue, results },
  };
  const names = Object.keys(values) as ConnectionName[];
  return [
    { name: 'home', value: home, from: 'SANDFLOW_HOME or built-in' },
    ...names.map((name) => ({ name, value: values[name] ?? null, from: fromText(name, origins[name], profile) })),
    ...(sandboxService?.apiKey ? [{ name: 'apiKey', value: '(set)', from: 'environment SANDBOX_API_KEY' }] : []),
  ];
}

function fromText(name: ConnectionName, origin: 'environment' | 'profile' | undefined, profile: string | null): string {
  if (origin === 'environment') return `environment ${connectionVariables[name]}`;
  return origin === 'profile' ? `profile ${profile}` : 'built-in';
}
