/** Settings with which the service does not start. */
import { expect, it } from 'vitest';
import { createLocalService, type LocalServiceOptions } from '../../src/index.js';
import { apiKey, emptyDirectory } from './service-under-test.js';

const agent = { command: 'true' };

const refused: readonly (readonly [what: string, settings: Partial<LocalServiceOptions>, message: RegExp])[] = [
  [
    'two commands of one provider',
    { commandAgents: { claude: agent, 'claude-code': agent } },
    /^commandAgents: "claude" and "claude-code" are names of the same provider\. Keep one/,
  ],
  [
    'two lists of models of one provider',
    { models: { 'kimi-code': [{ model: 'k' }], kimi: [{ model: 'k' }] } },
    /^models: "kimi-code" and "kimi" are names of the same provider\. Keep one/,
  ],
  ...['$CODEX_KEY', 'CODEX_KEY=k', '/home/me/.codex/auth.json', '~/', '../auth.json', '.codex/'].map(
    (wanted) =>
      [
        `the login ${wanted}, which no sandbox can have`,
        { commandAgents: { codex: { ...agent, login: ['CODEX_KEY', wanted] } } },
        /^commandAgents\.codex\.login\.1: must be the name of a variable, .* or the path of a secret file in the home/,
      ] as const,
  ),
];

it.each(refused)('the service does not start with %s, and says why', async (_what, settings, message) => {
  const starting = createLocalService({ directory: await emptyDirectory(), apiKey, ...settings });
  await expect(starting).rejects.toThrow(message);
});
