/** A local service with two members of one organization and a stranger, each with an account key and a session. */
import type { LocalServiceOptions } from '../../../src/index.js';
import { type LocalTarget, localPace, startLocalTarget } from './local-target.js';
import { createTarget, type Target } from './target.js';

/** Calls with the key of their account. */
export interface Person extends Target {
  readonly accountId: string;
  readonly login: string;
  /** A token of their browser session. */
  readonly session: string;
}

export interface People {
  /** Its own key is that of the first account, which belongs to no organization. */
  readonly local: LocalTarget;
  readonly teamId: string;
  readonly ann: Person;
  readonly ben: Person;
  readonly eve: Person;
  /** A target that calls with another key. */
  as(key: string): Target;
}

/** Starts it for the test; `ann` and `ben` are members of "Acme", `eve` is not. */
export async function startPeople(options: Partial<LocalServiceOptions> = {}): Promise<People> {
  const local = await startLocalTarget(options);
  const { accounts } = local.service;
  const as = (key: string): Target => createTarget(() => ({ url: local.service.url, key }), localPace);
  const join = (login: string): Person => {
    const { account, apiKey } = accounts.create({ login });
    return Object.assign(as(apiKey), { accountId: account.id, login, session: accounts.createSession(account.id) });
  };
  const [ann, ben, eve] = [join('ann'), join('ben'), join('eve')];
  const { id: teamId } = accounts.createTeam({ name: 'Acme', members: ['ann', 'ben'] });
  return { local, teamId, ann, ben, eve, as };
}
