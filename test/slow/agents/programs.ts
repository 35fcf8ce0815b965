/** The real programs of agents, as npm installs them, with the scripts of `examples/agent` next to them. */
import { cp, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LocalServiceOptions } from '../../../local-service/src/index.js';
import { readConfig } from '../../../src/config.js';
import { repository } from '../../unit/house/source-imports.js';
import { npmInstall } from '../e2e/package/installed.js';
import type { ModelServer } from './model-server.js';

/** The versions whose lines `local-service/src/agent/output` was read from. */
const packages = {
  'claude-code': '@anthropic-ai/claude-code@2.1.332',
  codex: '@openai/codex@0.171.0',
  opencode: 'opencode-ai@1.18.33',
} as const;

export type ProgramName = keyof typeof packages;
export const programNames = Object.keys(packages) as ProgramName[];

interface Wiring {
  /** The secret that is its login. */
  readonly login: string;
  /** What an environment passes so that the program finds the scripted model. */
  readonly environment: (model: ModelServer) => {
    readonly envContents?: string;
    readonly secretFiles?: readonly { readonly path: string; readonly contents: string }[];
  };
}

export const wirings: Readonly<Record<ProgramName, Wiring>> = {
  'claude-code': {
    login: 'ANTHROPIC_API_KEY',
    environment: ({ url }) => ({
      envContents: `ANTHROPIC_BASE_URL=${url}\nCLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1\n`,
    }),
  },
  codex: {
    login: 'SCRIPTED_KEY',
    environment: ({ url }) => ({
      secretFiles: [
        {
          path: '.codex/config.toml',
          contents: [
            'model_provider = "scripted"',
            'model = "gpt-5.5"',
            '[model_providers.scripted]',
            'name = "scripted"',
            `base_url = "${url}/v1"`,
            'env_key = "SCRIPTED_KEY"',
            'wire_api = "responses"',
            '',
          ].join('\n'),
        },
      ],
    }),
  },
  opencode: {
    login: 'SCRIPTED_KEY',
    environment: ({ url }) => ({
      secretFiles: [{ path: '.config/opencode/opencode.json', contents: JSON.stringify(opencodeConfig(url)) }],
    }),
  },
};

const opencodeConfig = (url: string) => ({
  autoupdate: false,
  model: 'scripted/one',
  small_model: 'scripted/one',
  provider: {
    scripted: {
      npm: '@ai-sdk/openai-compatible',
      options: { baseURL: `${url}/v1`, apiKey: '{env:SCRIPTED_KEY}' },
      models: { one: {} },
    },
  },
});

/**
 * The folder of the program and its script, installed once per version into the cache of the tests. It is some 400 MB.
 * @returns the reason if npm cannot install it
 */
export async function programFolder(name: ProgramName): Promise<string | { readonly missing: string }> {
  const folder = join(readConfig().cacheDirectory, 'agents', packages[name].replace(/[/@]+/g, '-'));
  const isThere = await stat(folder).then(
    () => true,
    () => false,
  );
  if (!isThere) {
    const unfinished = `${folder}.${process.pid}`;
    await rm(unfinished, { recursive: true, force: true });
    await mkdir(unfinished, { recursive: true });
    await writeFile(join(unfinished, 'package.json'), '{"private":true}\n');
    try {
      await npmInstall(unfinished, packages[name], { scripts: true });
      await rename(unfinished, folder);
    } catch (error) {
      return { missing: `npm could not install ${packages[name]}: ${error instanceof Error ? error.message : error}` };
    }
  }
  await cp(join(repository, 'examples/agent', `${name}.sh`), join(folder, `${name}.sh`));
  return folder;
}

/** The settings that docs/agents.md tells a user to write. */
export function settingsFor(
  name: ProgramName,
  folder: string,
  model: ModelServer,
): Pick<LocalServiceOptions, 'commandAgents' | 'programs' | 'network' | 'isolation'> {
  return {
    isolation: 'bubblewrap',
    programs: [folder],
    network: { allowHost: [model.host] },
    commandAgents: { [name]: { command: `sh ${folder}/${name}.sh`, output: name, login: [wirings[name].login] } },
  };
}
