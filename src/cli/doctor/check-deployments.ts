/** Whether deployments of other namespaces have sandboxes in the account: leases cannot see them. */
import type { Client } from '@temporalio/client';
import { parseOwnedSandboxName } from '../../addresses/addresses.js';
import { lenientClient } from '../../temporal/readable-memos.js';
import type { ServiceReads } from '../connect/ask-service.js';
import { failureOf } from '../errors.js';
import { type Check, ok, skipped, warning } from './check.js';

const timeoutMs = 10_000;
const named = 5;
const askedAtMost = 50;

/** Deployments that own sandboxes, except `own`, sorted. */
export function otherDeployments(names: readonly (string | null)[], own: string): string[] {
  const named = names.flatMap((name) => (name === null ? [] : (parseOwnedSandboxName(name)?.deployment ?? [])));
  return [...new Set(named)].filter((deployment) => deployment !== own).sort();
}

/** @param strangers deployments without a workflow in this namespace */
export function judgeDeployments(strangers: readonly string[]): Check {
  if (strangers.length === 0) return ok('account', 'No deployment of another namespace has sandboxes in this account.');
  const more = strangers.length > named ? ` and ${strangers.length - named} more` : '';
  return warning(
    'account',
    `Deployments without jobs in this namespace have sandboxes in this account: ${strangers.slice(0, named).join(', ')}${more}. Leases do not protect them.`,
    'Run them in one Temporal namespace, or give each namespace its own account.',
  );
}

/**
 * Lists the account's sandboxes. For each other deployment that owns one, checks whether Temporal has a workflow of it.
 */
export async function checkDeployments(reads: ServiceReads, temporal: Client, own: string): Promise<Check> {
  try {
    const sandboxes = await reads.listAllSandboxes({}, { timeoutMs });
    const names = sandboxes.map(({ name }) => name ?? null);
    const strangers: string[] = [];
    for (const deployment of otherDeployments(names, own).slice(0, askedAtMost)) {
      if (!(await hasWorkflows(temporal, deployment))) strangers.push(deployment);
    }
    return judgeDeployments(strangers);
  } catch (error) {
    return skipped(
      'account',
      `Cannot check which other deployments use the account: ${failureOf(error).error.message}`,
    );
  }
}

async function hasWorkflows(temporal: Client, deployment: string): Promise<boolean> {
  const query = `WorkflowId STARTS_WITH 'sf-${deployment}-'`;
  for await (const _ of lenientClient(temporal).workflow.list({ query, pageSize: 1 })) return true;
  return false;
}
