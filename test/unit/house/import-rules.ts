/** Which part may import which: the table of docs/architecture.md as code. */
import type { ImportedModule } from './source-imports.js';

/** The ground of the house, on which every part stands. It imports no other part. */
const ground = ['src/errors', 'src/secrecy', 'src/settings', 'src/texts'];

/** What workflow code may import besides Temporal: folders without dependencies. */
export const workflowSafe = [
  'src/addresses',
  'src/contract/workflow-safe',
  'src/errors',
  'src/job-settings',
  'src/protocol',
  'src/texts',
];

interface Rule {
  /** A folder, or one file. The longest that fits a file counts. */
  readonly part: string;
  /** Our own parts and files that it may import, besides itself. */
  readonly own: readonly string[];
  /** Parts whose types it may import. */
  readonly ownTypes?: readonly string[];
  /** Packages; `node:` stands for every built-in module. */
  readonly packages: readonly string[];
}

const temporalClient = ['@temporalio/client', '@temporalio/common'];

export const importRules: readonly Rule[] = [
  { part: 'src/texts', own: [], packages: [] },
  { part: 'src/errors', own: [], packages: [] },
  { part: 'src/secrecy', own: ['src/errors'], packages: [] },
  { part: 'src/settings', own: ['src/errors', 'src/secrecy', 'src/texts'], packages: ['node:path', 'yaml', 'zod'] },
  { part: 'src/addresses', own: [], packages: [] },
  { part: 'src/contract/workflow-safe', own: ['src/errors', 'src/texts'], packages: [] },
  { part: 'src/contract', own: ['src/addresses', 'src/errors', 'src/texts'], packages: ['zod'] },
  { part: 'src/job-settings', own: ['src/contract/workflow-safe'], packages: [] },
  {
    part: 'src/protocol',
    own: ['src/contract/workflow-safe', 'src/errors', 'src/job-settings', 'src/texts'],
    packages: ['@temporalio/workflow'],
  },
  { part: 'src/tracing', own: [], packages: ['node:', '@opentelemetry/api'] },
  { part: 'src/client', own: [...ground, 'src/contract', 'src/tracing'], packages: ['node:', 'undici', 'zod'] },
  { part: 'src/webhook', own: [...ground, 'src/contract'], packages: ['node:'] },
  { part: 'src/os', own: [...ground], packages: ['node:', 'libsql'] },
  { part: 'src/s3', own: [...ground], packages: ['node:', '@aws-sdk/client-s3'] },
  {
    part: 'src/result-store',
    own: [...ground, 'src/contract', 'src/addresses', 'src/protocol', 'src/os', 'src/s3'],
    packages: ['node:'],
  },
  {
    part: 'src/encryption',
    own: [...ground, 'src/protocol', 'src/os', 'src/result-store/put-after.ts'],
    ownTypes: ['src/result-store'],
    packages: ['node:', '@temporalio/common', '@temporalio/proto'],
  },
  { part: 'src/secret-store', own: [...ground, 'src/encryption', 'src/os', 'src/s3'], packages: ['node:'] },
  { part: 'src/notify', own: [...ground, 'src/os', 'src/webhook'], packages: ['node:'] },
  {
    part: 'src/retention',
    own: [...ground, 'src/addresses', 'src/contract', 'src/protocol'],
    packages: ['zod'],
  },
  {
    part: 'src/temporal',
    own: [...ground, 'src/addresses', 'src/protocol', 'src/os'],
    ownTypes: ['src/encryption'],
    packages: ['node:', '@temporalio/worker', '@temporalio/envconfig', ...temporalClient],
  },
  {
    part: 'activities',
    own: [
      ...ground,
      'src/contract',
      'src/addresses',
      'src/protocol',
      'src/client',
      'src/webhook',
      'src/retention',
      'src/os',
      'src/result-store',
      'src/temporal',
      'src/workflow-client',
    ],
    ownTypes: ['src/secret-store'],
    packages: ['node:', '@temporalio/activity', ...temporalClient, 'undici'],
  },
  {
    part: 'workflows',
    own: workflowSafe,
    ownTypes: ['activities'],
    packages: ['@temporalio/workflow', '@temporalio/common'],
  },
  {
    part: 'src/workflow-client',
    own: [
      ...ground,
      'src/contract',
      'src/addresses',
      'src/job-settings',
      'src/protocol',
      'src/result-store',
      'src/retention',
      'src/temporal',
    ],
    packages: ['node:', ...temporalClient, 'zod'],
  },
  {
    part: 'src/temporal-server',
    own: [...ground, 'src/os', 'src/temporal'],
    packages: ['node:', '@temporalio/worker', ...temporalClient, 'undici'],
  },
  {
    part: 'src/fanout',
    own: [...ground, 'src/contract', 'src/job-settings', 'src/protocol'],
    packages: ['node:', 'csv-parse', 'zod'],
  },
  {
    part: 'src/worker',
    own: [
      'activities',
      ...ground,
      'src/contract',
      'src/addresses',
      'src/protocol',
      'src/client',
      'src/result-store',
      'src/encryption',
      'src/temporal',
    ],
    packages: ['node:', '@temporalio/worker', ...temporalClient, 'prom-client'],
  },
  {
    part: 'src/bridge',
    own: [
      ...ground,
      'src/contract',
      'src/addresses',
      'src/protocol',
      'src/webhook',
      'src/os',
      'src/temporal',
      'src/tracing',
    ],
    packages: ['node:', ...temporalClient, 'prom-client'],
  },
  {
    // Registering the bridge is a call to the service; receiving a delivery is not.
    part: 'src/bridge/webhook-registration.ts',
    own: [...ground, 'src/contract', 'src/client', 'src/bridge'],
    packages: ['node:'],
  },
  {
    part: 'local-service/src',
    own: [...ground, 'src/contract', 'src/webhook', 'src/os'],
    packages: ['node:', 'fastify', 'libsql', 'ssh2', 'undici', 'ws', 'zod', 'zod-openapi'],
  },
  { part: 'src/report', own: [...ground, 'src/addresses', 'src/protocol'], packages: ['node:'] },
  {
    part: 'src/supervisor',
    own: [
      ...ground,
      'src/addresses',
      'src/protocol',
      'src/client',
      'src/bridge/webhook-registration.ts',
      'src/temporal',
      'src/temporal-server',
      'src/workflow-client',
      'src/os',
      'src/config.ts',
    ],
    packages: ['node:', '@temporalio/client', 'zod'],
  },
  {
    part: 'src/cli',
    own: ['src'],
    packages: ['node:', ...temporalClient, 'commander', '@commander-js/extra-typings', 'yaml', 'zod'],
  },
  { part: 'src/cli/folders', own: ['src'], packages: ['node:', 'tar'] },
  {
    part: 'src/config.ts',
    own: [...ground, 'src/addresses', 'src/contract', 'src/os', 'src/temporal-config.ts'],
    packages: ['node:'],
  },
  {
    part: 'src/temporal-config.ts',
    own: [...ground, 'src/os'],
    packages: ['@temporalio/envconfig', 'node:crypto', 'node:fs'],
  },
  { part: 'src/index.ts', own: ['src', 'workflows', 'activities'], packages: [] },
];

/** Forbidden imports of `file`, as sentences; empty if there are none. */
export function violations(file: string, imports: readonly ImportedModule[]): string[] {
  const rule = ruleOf(file);
  if (!rule) return [`${file} is in no part of the table of import rules`];
  return imports
    .filter((imported) => !isAllowed(rule, imported))
    .map(({ target, isTypeOnly }) => `${file} must not import ${isTypeOnly ? 'types of ' : ''}${target}`);
}

function ruleOf(file: string): Rule | undefined {
  return importRules
    .filter(({ part }) => isIn(file, part))
    .sort((a, b) => b.part.length - a.part.length)
    .at(0);
}

function isAllowed(rule: Rule, { target, isOwn, isTypeOnly }: ImportedModule): boolean {
  if (!isOwn) return rule.packages.some((name) => (name === 'node:' ? target.startsWith(name) : isIn(target, name)));
  const parts = [rule.part, ...rule.own, ...(isTypeOnly ? (rule.ownTypes ?? []) : [])];
  return parts.some((part) => isIn(target, part));
}

function isIn(path: string, part: string): boolean {
  return path === part || path.startsWith(`${part}/`);
}
