/** Adds what a document describes to the state of the service, all or nothing. */

import { addAccount, addTeam } from '../accounts/records.js';
import type { Context } from '../core/context.js';
import { newWebhookId, newWebhookSecret } from '../core/ids.js';
import { addEnvironment } from '../environments/environments.js';
import { MachineError } from '../machine/index.js';
import { requireWebhookUrl } from '../webhooks/url-rules.js';
import { createSeedDisks } from './seed-disks.js';
import { badSeed, readSeedDocument, type SeedDocument } from './seed-document.js';
import { putSandbox } from './seed-sandbox.js';

/** What a seed has created. Keys and secrets are shown here only. */
export interface Seeded {
  readonly accounts: readonly { readonly id: string; readonly login: string; readonly apiKey: string }[];
  readonly environments: readonly { readonly id: string; readonly name: string }[];
  readonly sandboxes: readonly { readonly id: string; readonly name: string }[];
  readonly snapshots: readonly { readonly id: string; readonly name: string | null; readonly sandboxId: string }[];
  readonly webhooks: readonly { readonly id: string; readonly name: string; readonly secret: string }[];
}

export interface SeedOptions {
  /**
   * Called after the disk of each sandbox, with how many have been made, of how many. The seed waits for what it
   * returns. Default: nothing is called.
   */
  readonly onProgress?: ((made: number, of: number) => void | Promise<void>) | undefined;
}

const firstLogin = 'local';

/** @throws ServiceError `bad_seed`; and what the creation of an account, environment, sandbox or webhook throws */
export async function seedState(
  context: Context,
  given: unknown,
  { strictWebhookUrls, onProgress }: SeedOptions & { readonly strictWebhookUrls: boolean },
): Promise<Seeded> {
  const document = readSeedDocument(given);
  for (const { url } of document.webhooks) requireWebhookUrl(url, strictWebhookUrls);
  const disks = createSeedDisks(context);
  try {
    for (const [index, sandbox] of document.sandboxes.entries()) {
      await disks.make(sandbox, index);
      await onProgress?.(index + 1, document.sandboxes.length);
    }
    return context.database.transaction(() => {
      const accounts = document.accounts.map((wanted) => {
        const { account, apiKey } = addAccount(context, wanted);
        return { id: account.id, login: account.login, apiKey };
      });
      for (const team of document.teams) addTeam(context, team);
      const environments = document.environments.map(({ account, ...wanted }) => {
        const { id, name } = addEnvironment(context, accountOf(context, account), wanted);
        return { id, name };
      });
      const sandboxes = disks.made.map((disk) => {
        const { id, name } = putSandbox(context, accountOf(context, disk.seed.account), disk);
        return { id, name };
      });
      const snapshots = disks.made.flatMap(({ sandboxId, snapshots: made }) =>
        made.map(({ id, name }) => ({ id, name, sandboxId })),
      );
      return { accounts, environments, sandboxes, snapshots, webhooks: putWebhooks(context, document.webhooks) };
    });
  } catch (cause) {
    await disks.remove();
    if (cause instanceof MachineError) throw badSeed(cause.message.replace(/\.$/, ''));
    throw cause;
  }
}

function accountOf({ stores }: Context, login = firstLogin): string {
  const account = stores.accounts.byLogin(login);
  if (!account) throw badSeed(`account: an account with the login "${login}" does not exist`);
  return account.id;
}

function putWebhooks(context: Context, webhooks: SeedDocument['webhooks']): Seeded['webhooks'] {
  return webhooks.map(({ account, secret = newWebhookSecret(), legacy = false, events, ...wanted }) => {
    const id = newWebhookId();
    context.stores.webhooks.put({
      ...wanted,
      id,
      secret,
      legacy,
      events: [...new Set(events)],
      createdAt: context.clock.iso(),
      accountId: accountOf(context, account),
    });
    return { id, name: wanted.name, secret };
  });
}
