/**
 * No switch of the local service is without effect. Tier: all, about 80 s of CPU: the script runs for each row until an answer differs
 * from that of a plain service.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type DeviationName, deviationNames } from '../../../src/index.js';
import { website } from '../../conformance/environments/environment-desk.js';
import { startGitServer } from '../../conformance/environments/git-server.js';
import { apiKey, emptyDirectory, startService } from '../../service/service-under-test.js';
import { type Step, script } from './deviations-script.js';

async function run(deviations: readonly DeviationName[], onStep: (step: Step, at: number) => boolean): Promise<void> {
  const files = await emptyDirectory();
  writeFileSync(join(files, 'login'), 'login-of-the-script\n', { mode: 0o600 });
  const { folder } = await startGitServer({ 'README.md': 'hello\n' });
  const { service } = await startService({
    deviations,
    repos: [{ ...website, cloneUrl: folder }],
    scriptedProviders: ['codex'],
    commandAgents: { 'claude-code': { command: 'echo "$AGENT_KEY"' } },
    agentCredentials: { 'claude-code': { AGENT_KEY: join(files, 'login') } },
    repoHost: { url: 'https://git.example.com', login: 'ann', tokenFile: join(files, 'login') },
  });
  let at = 0;
  for await (const step of script(service, apiKey)) if (onStep(step, at++)) return;
}

async function stepsOfPlain(): Promise<readonly Step[]> {
  const steps: Step[] = [];
  await run([], (step) => steps.push(step) < 0);
  return steps;
}
let plain: Promise<readonly Step[]> | undefined;

it('a plain service answers the script the same each time', async () => {
  plain ??= stepsOfPlain();
  expect(await stepsOfPlain()).toEqual(await plain);
});

it.each(deviationNames)('%s makes an answer differ', async (name) => {
  plain ??= stepsOfPlain();
  const expected = await plain;
  let differs: Step | undefined;
  await run([name], (step, at) => {
    if (step.shows !== expected[at]?.shows) differs = step;
    return differs !== undefined;
  });
  expect(differs, 'The switch has no effect.').toBeDefined();
});
