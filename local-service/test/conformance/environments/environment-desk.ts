/** Environments for a test: the API cannot create any, so the object creates them. */
import type { Environment } from '../../../../src/contract/index.js';
import type { LocalServiceOptions } from '../../../src/index.js';
import type { Answer } from '../target/answer.js';
import { type LocalTarget, startLocalTarget } from '../target/index.js';

export interface EnvironmentDesk {
  readonly target: LocalTarget;
  /** Creates an environment and returns its id. */
  make(name: string, content?: Readonly<Record<string, unknown>>): string;
  put(environmentId: string, body: Readonly<Record<string, unknown>>): Promise<Answer>;
  upgrade(environmentId: string, body?: Readonly<Record<string, unknown>>): Promise<Answer>;
  /** As GET /environments shows it. */
  read(environmentId: string): Promise<Environment>;
  /** The output of a command. */
  run(sandboxId: string, command: string, env?: Readonly<Record<string, string>>): Promise<string>;
}

export const laptop = { id: 7, fullName: 'acme/laptop', pushedAt: '2026-01-02T03:04:05.000Z' };
export const website = {
  id: 8,
  databaseId: 'db-8',
  fullName: 'acme/website',
  pushedAt: '2026-01-02T03:04:06.000Z',
  private: true,
  baseBranch: 'trunk',
};

/** A separate service with two repositories. */
export async function openEnvironmentDesk(options: Partial<LocalServiceOptions> = {}): Promise<EnvironmentDesk> {
  const target = await startLocalTarget({ repos: [laptop, website], ...options });
  return {
    target,
    make: (name, content = {}) => String(target.service.setup.createEnvironment({ name, ...content }).id),
    put: (id, body) => target.call('PUT', `/environments/${id}`, { body }),
    upgrade: (id, body) => target.call('POST', `/environments/${id}/upgrade`, body === undefined ? {} : { body }),
    async read(id) {
      const { body } = await target.call('GET', '/environments');
      const found = body.environments.find((environment) => environment.id === id);
      if (!found) throw new Error(`GET /environments does not list ${id}.`);
      return found;
    },
    async run(sandboxId, command, env) {
      const { body, status, text } = await target.call('POST', `/sandboxes/${sandboxId}/commands`, {
        body: { command, ...(env ? { env } : {}) },
      });
      if (status !== 200) throw new Error(`The command answered ${status}: ${text}`);
      return body.stdout.trim();
    },
  };
}
