/** Every endpoint of the contract with the parts that implement it. */
import { createActivities, createFollowActivities } from '../../../../activities/index.js';
import { createSandboxClient } from '../../../../src/client/index.js';
import { type Endpoint, endpoints } from '../../../../src/contract/endpoints/endpoints.js';
import { createResultStore } from '../../../../src/result-store/index.js';
import { allOperations } from '../../../src/http/operations.js';
import { inventory } from './inventory.js';
import { cell } from './named-test.js';

/** Activities that do more than their endpoint, and have another name. */
const activityNames: Readonly<Record<string, string>> = {};

interface Row {
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly client: string | undefined;
  readonly activity: string | undefined;
  readonly route: string | undefined;
}

async function endpointRows(): Promise<Row[]> {
  const client = createSandboxClient({ baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'none' });
  const dependencies = { client, results: createResultStore('/nowhere'), taskQueue: 'none' };
  const activities = { ...createActivities(dependencies), ...createFollowActivities(dependencies) };
  const routes = allOperations({ strictUrls: false, resolveHost: async () => [] });
  const named = (part: object, name: string): string | undefined => (Object.hasOwn(part, name) ? name : undefined);
  const rows = Object.entries<Endpoint>(endpoints).map(([name, endpoint]) => ({
    name,
    endpoint,
    client: named(client, name),
    activity: named(activities, activityNames[name] ?? name),
    route: named(routes, name),
  }));
  await client.close();
  return rows;
}

/** @returns the table, and its gaps */
export async function endpointTable(): Promise<{ readonly markdown: string; readonly missing: readonly string[] }> {
  const rows = await endpointRows();
  const served = new Set(rows.map(({ endpoint: { method, path } }) => `${method} ${path}`));
  const missing = inventory.filter((entry) => !served.has(entry)).map((entry) => `${entry}: no row of the contract`);
  for (const row of rows) {
    if (row.client === undefined) missing.push(`${row.name}: no method of the client`);
    if (row.activity === undefined) missing.push(`${row.name}: no activity`);
    if (row.route === undefined) missing.push(`${row.name}: no route of the local service`);
  }
  const lines = rows.map(({ endpoint, client, activity, route }) =>
    [
      `\`${endpoint.method} ${endpoint.path}\``,
      endpoint.retry,
      code(client),
      code(activity),
      code(route),
      (endpoint.assumed ?? []).join(', '),
    ].map(cell),
  );
  const header = ['Endpoint', 'Retry class', 'Client method', 'Activity', 'Route', 'Assumed'];
  return { markdown: table(header, lines), missing };
}

function code(name: string | undefined): string {
  return name === undefined ? '**none yet**' : `\`${name}\``;
}

export function table(header: readonly string[], lines: readonly (readonly string[])[]): string {
  const rule = header.map(() => '---');
  return [header, rule, ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
