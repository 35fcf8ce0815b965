import type { DataRetention } from '../../../../src/contract/records/account-records.js';
import { limitsOf } from '../../accounts/limits.js';
import { accountOf } from '../../accounts/records.js';
import type { Context } from '../../core/context.js';
import { newSandboxesHoldLogin } from '../../prompts/login.js';
import { providerCatalog } from '../../prompts/providers.js';
import { ServiceError } from '../../service-error.js';
import type { AccountRecord } from '../../store/account-store.js';
import type { Operations } from '../operation.js';

const dayMs = 24 * 3_600_000;

export const accountOperations = {
  getMe(context, { caller }) {
    const { login, email, zeroDataRetentionEnabledAt } = accountOf(context, caller.accountId);
    const zeroDataRetention = zeroDataRetentionEnabledAt !== null;
    return { fields: { user: { login, email, zeroDataRetention, zeroDataRetentionEnabledAt } } };
  },

  listProviderModels(context, { caller: { accountId } }) {
    const isConfigured = (provider: string): boolean => {
      const agent = context.agentOf(provider);
      return agent !== undefined && newSandboxesHoldLogin(context, accountId, { provider, login: agent.login });
    };
    const takesAnyModel = (provider: string) => context.agentOf(provider)?.takesAnyModel === true;
    return { fields: { providers: providerCatalog(context.models, { isConfigured, takesAnyModel }) } };
  },

  getLimits: (context, { caller }) => ({ fields: { limits: limitsOf(context, caller.accountId) } }),

  getDataRetention: (context, { caller }) => ({
    fields: { policy: policyOf(context, accountOf(context, caller.accountId)) },
  }),

  /** Its route accepts only sessions, and refuses keys (specification, "Authentication"). */
  updateDataRetention(context, { caller, body: { zeroDataRetention } }) {
    if (zeroDataRetention === undefined) throw new ServiceError(400, 'no_changes', 'Specify zeroDataRetention.');
    const account = accountOf(context, caller.accountId);
    const enabledAt = account.zeroDataRetentionEnabledAt ?? context.clock.iso();
    const changed = { ...account, zeroDataRetentionEnabledAt: zeroDataRetention ? enabledAt : null };
    context.stores.accounts.accounts.put(changed);
    return { fields: { policy: policyOf(context, changed) } };
  },
} satisfies Partial<Operations>;

function policyOf({ timings }: Context, { zeroDataRetentionEnabledAt }: AccountRecord): DataRetention {
  return { snapshotDays: timings.dataExpiryMs / dayMs, zeroDataRetention: zeroDataRetentionEnabledAt !== null };
}
