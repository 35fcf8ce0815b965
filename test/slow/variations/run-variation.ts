/** Runs all kinds of work on a service that differs, and judges each by the books of the service. */
import { randomBytes } from 'node:crypto';
import type { DeviationName } from '../../../local-service/src/index.js';
import type { RequestForm } from '../../../src/contract/request-form.js';
import { createStand, type Stand } from '../../workflows/workflow-harness.js';
import { settled, within } from '../matrix/row.js';
import { createTaggedClient } from '../matrix/tagged-client.js';
import { deadlineMs, type KindName, kinds, type Site, until } from './kinds.js';
import { createRewritingProxy, type Rewriting, type RewritingProxy } from './rewriting-proxy.js';

export interface Variation {
  /** What the service does otherwise. Default: nothing. */
  readonly deviations?: readonly DeviationName[];
  /** What it cannot; made for each run, because some remember. */
  readonly rewrites?: () => Rewriting;
  /** The settings for such a service. */
  readonly form?: RequestForm;
  /** True if no webhook arrives. */
  readonly silent?: boolean;
}

export interface Ran {
  readonly verdict: string;
  readonly broken: readonly string[];
  readonly seconds: number;
}

/** The extra time for a busy machine and for what comes after the deadline, in ms. */
const marginMs = 60_000;
const apiKey = 'test-key';

export async function runVariation(
  variations: readonly Variation[],
  names = Object.keys(kinds) as KindName[],
): Promise<Readonly<Record<string, Ran>>> {
  let proxy: RewritingProxy | undefined;
  let client: ReturnType<typeof createTaggedClient> | undefined;
  const form = Object.assign({}, ...variations.map((one) => one.form)) as RequestForm;
  const deviations = [...new Set(variations.flatMap((one) => one.deviations ?? []))];
  const stand = await createStand({
    service: { deviations, timings: { bootMs: 50, archiveMs: 50, deleteMs: 20, hydrationMs: 50 } },
    worker: { forksPerSecond: 1_000, follow: { minIntervalMs: 300, briefFollowMs: 300 } },
    async connect(url) {
      proxy = await createRewritingProxy(
        url,
        variations.flatMap(({ rewrites }) => rewrites?.() ?? []),
      );
      client = createTaggedClient(proxy.url, apiKey, { ...form, timeoutMs: 30_000, onceTimeoutMs: 30_000 });
      return client;
    },
  });
  try {
    if (!proxy) throw new Error('The stand did not ask for its client');
    if (variations.some(({ silent }) => silent)) {
      for (const { id } of (await stand.api.listWebhooks()).webhooks) await stand.api.deleteWebhook(id);
    }
    const listLagMs = deviations.includes('A-read-lag') ? 6_500 : 0;
    const site = { stand, proxy, make: (state: 'ready' | 'archived') => make(stand, state), listLagMs };
    const run = async (name: KindName) => [name, await runKind(site, name)] as const;
    const results: (readonly [KindName, Ran])[] = [];
    for (const name of names.filter((one) => 'alone' in kinds[one])) results.push(await run(name));
    results.push(...(await Promise.all(names.filter((one) => !('alone' in kinds[one])).map(run))));
    return Object.fromEntries(results);
  } finally {
    await stand.close();
    await client?.close();
    await proxy?.close();
  }
}

async function runKind(site: Site & { readonly proxy: RewritingProxy }, name: KindName): Promise<Ran> {
  const { stand, proxy } = site;
  const kind = kinds[name];
  const id = `v${randomBytes(5).toString('hex')}`;
  const { workflowId, given, end } = await kind.begin(site, id);
  const isOf = (maker: string | undefined) => maker?.startsWith(workflowId) === true;
  const startedMs = Date.now();
  try {
    const { verdict, ended, broken } = await within(deadlineMs + marginMs, end());
    const scenario = { name: name === 'batch' ? 'batch-prepared' : name, makes: kind.makes, keeps: name === 'cleanup' };
    const owns = ({ id: of }: { readonly id: string }) => given.includes(of) || isOf(proxy.makers.get(of));
    const run = {
      ...{ scenario, ended: { ...ended, outcome: verdict } },
      prepared: { given, owns },
      calls: proxy.calls.filter(({ workflowId: of }) => isOf(of)),
    };
    const promises = await settled({ stand, sourceId: '' }, run);
    const twice = stand.service.books
      .sandboxes()
      .filter(owns)
      .flatMap((sandbox) => stoppedTwice(stand, sandbox.id));
    return { verdict, broken: [...broken, ...promises, ...twice], seconds: (Date.now() - startedMs) / 1_000 };
  } catch (error) {
    await stand.client.workflow
      .getHandle(workflowId)
      .terminate('it did not end')
      .catch(() => undefined);
    return { verdict: `did not end: ${error}`, broken: [], seconds: (Date.now() - startedMs) / 1_000 };
  }
}

/** A sandbox is made, stopped and deleted once. */
function stoppedTwice({ service: { books } }: Stand, sandboxId: string): string[] {
  const stops = books.stops({ sandboxId }).length;
  const deletes = books
    .calls({ sandboxId })
    .filter(({ endpoint, status }) => endpoint === 'deleteSandbox' && (status ?? 0) < 300);
  return [
    ...(stops > 1 ? [`stopped ${stops} times: ${sandboxId}`] : []),
    ...(deletes.length > 1 ? [`deleted ${deletes.length} times: ${sandboxId}`] : []),
  ];
}

/** Asks the service itself, with no more than it must be told, and reads the books instead of its answers. */
async function make({ service }: Stand, state: 'ready' | 'archived'): Promise<string> {
  const known = service.books.sandboxes().map(({ id }) => id);
  const ask = (path: string) =>
    fetch(`${service.url}/sandboxes${path}`, { method: 'POST', headers: { authorization: `Bearer ${apiKey}` } });
  const answer = await ask('');
  const id = ((await answer.json()) as { sandbox?: { id?: string } }).sandbox?.id ?? known.join();
  const stateOf = () => service.books.sandboxes().find((one) => one.id === id)?.state;
  await until(() => stateOf() === 'ready' || undefined);
  if (state === 'archived') {
    await ask(`/${id}/stop`);
    await until(() => stateOf() === 'archived' || undefined);
  }
  return id;
}
