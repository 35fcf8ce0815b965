/**
 * Every setting of a job, of a batch and of its items, one row each. From the rows derive the types of the inputs
 * (`JobInput`, `FanoutPolicy`, `FanoutItem`), their schemas, the options of `run`, `fanout`, `fanout resume`, `continue`
 * and `jobs prompt`, the names in error messages, `sandflow.json`, the files of jobs and batches with their JSON schemas,
 * the fields of JSONL and CSV, and the tables of the documents.
 *
 * The rows are in the order of the fields of the inputs, on which digests depend.
 */
import { machineTypes } from '../contract/workflow-safe/machine-types.js';
import { reasoningEfforts } from '../contract/workflow-safe/reasoning-efforts.js';
import type { Setting } from './setting.js';

const sizes = Object.keys(machineTypes) as readonly (keyof typeof machineTypes)[];
const ends = ['stop', 'delete', 'keep'] as const;

/** The settings with which a batch prepares its source. */
export const preparing = [
  'setup',
  'command',
  'preparePut',
  'preparePrompt',
  'prepareType',
  'prepareDeadline',
  'prepareEnd',
] as const;
const replacesPrepared = 'replaces the prepared sandbox';
const otherSources = ['source', 'snapshot'];

const harness = 'agent harness, such as codex or claude-code';
const axis = (names: string) => `${names}, separated by commas; each item runs with each of them`;
const notifies = (what: string) =>
  `notify a URL, slack:URL, teams:URL or discord:URL when the ${what} ends or is blocked`;
const escalates = (whose: string) =>
  `what to do if the stop ${whose} goes on failing, such as "30m: resume-and-stop, 2h: notify"; see \`stop\``;
const furtherFields = 'further fields of the request';

export const jobSettings = {
  prompt: {
    kind: 'prompts',
    of: 'command',
    on: {
      run: { help: 'another prompt: text, or @file (repeatable)', value: '<text>' },
      fanout: { help: 'prompt template with {{column}}, or @file (repeatable)', value: '<template>' },
      resume: {
        help: 'new prompt, with the columns with which the items were submitted, or @file (repeatable)',
        value: '<template>',
      },
    },
  },
  /** The harness that runs the prompt. Default: the harness that the user chose at the service. */
  provider: {
    kind: 'name',
    of: 'prompt',
    item: true,
    on: {
      run: { help: harness, project: true },
      fanout: { help: axis('agent harnesses'), several: true, project: true },
      resume: { help: 'another agent harness; model and effort are then not taken over' },
      continue: { help: 'another agent harness; its model and effort are then not taken over' },
      prompt: { help: harness },
    },
  },
  /** The model. Default: the user's default for the harness. */
  model: {
    kind: 'name',
    of: 'prompt',
    item: true,
    on: {
      run: { help: 'model of the provider', project: true },
      fanout: { help: axis('models'), several: true, project: true },
      resume: { help: 'another model; the effort is then not taken over' },
      continue: { help: 'another model; the effort is then not taken over' },
      prompt: { help: 'model of the provider' },
    },
  },
  /** A reasoning level that the model accepts. Default: the level that the service chooses. */
  effort: {
    kind: 'choice',
    values: reasoningEfforts,
    of: 'prompt',
    field: 'reasoningEffort',
    item: true,
    on: {
      run: { help: 'reasoning effort', value: '<level>', project: true },
      fanout: { help: axis('reasoning efforts'), value: '<levels>', several: true, project: true },
      resume: { help: 'another reasoning effort', value: '<level>' },
      continue: { help: 'another reasoning effort', value: '<level>' },
      prompt: { help: 'reasoning effort', value: '<level>' },
    },
  },
  promptBody: {
    kind: 'fields',
    of: 'command',
    on: {
      run: { help: `${furtherFields} of each prompt: JSON, or @file`, rare: true },
      fanout: { help: `${furtherFields} of each prompt: JSON, or @file`, rare: true },
    },
  },
  repeat: {
    kind: 'count',
    least: 1,
    most: 1_000,
    of: 'command',
    default: 1,
    on: { fanout: { rare: true, help: 'how many times to run each item', project: true } },
  },

  /** `hydrated` also waits until every file of the snapshot is on disk. */
  waitFor: {
    kind: 'choice',
    values: ['usable', 'hydrated'],
    of: 'job',
    default: 'usable',
    batch: {},
    on: {
      run: {
        help: 'when to start; hydrated waits until every file of a snapshot is on disk',
        value: '<state>',
        rare: true,
        project: true,
      },
      fanout: {
        help: 'when an item starts; hydrated waits until every file of its fork is on disk',
        value: '<state>',
        rare: true,
        project: true,
      },
    },
  },
  /** Files to write before the first prompt. */
  put: {
    kind: 'files',
    of: 'job',
    default: [],
    item: true,
    on: {
      run: { help: 'a file or folder to write before the first prompt (repeatable)' },
      fanout: { help: 'a file or folder to write into each fork (repeatable)' },
    },
  },
  /** Shell commands that run in order, after the files and before the prompts. A non-zero exit fails the job. */
  commands: { kind: 'commands', of: 'job' },
  /** A job needs at least one prompt or one command. */
  prompts: { kind: 'prompts', of: 'job', default: [] },
  /** `one`: in order, in one conversation. `each`: in parallel, each in its own conversation. */
  eachConversation: {
    kind: 'choice',
    values: ['one', 'each'],
    of: 'job',
    field: 'conversations',
    default: 'one',
    sets: 'each',
    batch: {},
    on: {
      run: { help: 'run the prompts in parallel, each in its own conversation', rare: true },
      fanout: { help: 'run the prompts of an item in parallel, each in its own conversation', rare: true },
    },
  },
  /** An earlier conversation of the sandbox or of its source, which the prompts continue. Default: a new conversation. */
  conversation: {
    kind: 'name',
    of: 'job',
    field: 'conversationId',
    batch: {},
    on: {
      run: {
        help: 'with --sandbox or --fork: continue this conversation',
        value: '<id>',
        rare: true,
        requires: [['sandbox', 'fork'], 'a new sandbox has no conversation'],
        excludes: [[['eachConversation']]],
      },
      fanout: {
        help: 'with --source: each item continues this conversation of it, in its fork',
        value: '<id>',
        rare: true,
      },
    },
  },
  /** Paths to collect after the last prompt. */
  get: {
    kind: 'paths',
    of: 'job',
    field: 'collect',
    default: [],
    item: true,
    on: {
      run: { help: 'a file to collect at the end (repeatable)' },
      fanout: { help: 'a file to collect from each fork (repeatable)' },
      resume: { help: 'where to save a file that the batch collects (repeatable)' },
      continue: { help: 'a file to collect at the end (repeatable)' },
    },
  },
  /**
   * Folder of a git repository in the sandbox. Its changes since the first prompt are collected as the file
   * `changes.patch`. Default: none.
   */
  getDiff: {
    kind: 'folder',
    of: 'job',
    field: 'collectDiff',
    item: true,
    on: {
      run: {
        help: 'collect what a git repository changed, as changes.patch (default: .)',
        value: '[remote[:local]]',
      },
      fanout: {
        help: 'collect what a git repository changed in each fork, as changes.patch (default: .)',
        value: '[remote]',
      },
    },
  },

  from: {
    kind: 'name',
    of: 'sandbox',
    on: { run: { help: 'create the sandbox from a named snapshot', value: '<snapshot>', project: true } },
  },
  sandbox: {
    kind: 'sandbox',
    of: 'command',
    on: {
      run: {
        help: 'reuse an existing sandbox; it is resumed if it is archived',
        excludes: [
          [['fork']],
          [['environment', 'from', 'setup', 'env', 'snapshots', 'monitoring', 'createBody'], 'reuses a sandbox'],
        ],
        // The user names an existing sandbox. Settings for new sandboxes must not change or delete it.
        replaces: ['from', 'type', 'end', 'ttl'],
      },
    },
  },
  fork: {
    kind: 'sandbox',
    of: 'command',
    on: {
      run: {
        help: 'create the sandbox as a fork of another one, which does not change',
        excludes: [[['environment', 'from', 'setup', 'env'], 'copies a sandbox']],
        replaces: ['from'],
      },
    },
  },
  source: {
    kind: 'sandbox',
    of: 'command',
    on: {
      fanout: {
        help: 'fork this sandbox; it is stopped first if it changed after its last snapshot',
        value: '<sandbox>',
        project: true,
        excludes: [[['snapshot']], [[...preparing, 'environment', 'env', 'createBody'], replacesPrepared]],
        replaces: ['snapshot'],
      },
    },
  },
  allowStale: {
    kind: 'flag',
    of: 'command',
    on: {
      fanout: {
        help: 'with --source: fork the last snapshot even if the sandbox changed after it',
        rare: true,
        requires: [['source']],
      },
    },
  },
  snapshot: {
    kind: 'name',
    of: 'command',
    on: {
      fanout: {
        help: 'start from a named snapshot',
        project: true,
        excludes: [[preparing, replacesPrepared]],
        replaces: ['source'],
      },
    },
  },
  environment: {
    kind: 'name',
    of: 'sandbox',
    on: {
      run: { help: 'environment of the new sandbox', value: '<name>', excludes: [[['env']]] },
      fanout: {
        rare: true,
        help: 'environment of the prepared sandbox, or of forks from a snapshot',
        value: '<name>',
        excludes: [[['env']]],
        replaces: ['source'],
      },
    },
  },
  env: {
    kind: 'flag',
    of: 'sandbox',
    field: 'noEnv',
    sets: true,
    on: {
      run: { help: 'create the sandbox without an environment', rare: true },
      fanout: {
        help: 'create the prepared sandbox, or forks from a snapshot, without an environment',
        rare: true,
        replaces: ['source'],
      },
    },
  },
  setup: {
    kind: 'text',
    of: 'sandbox',
    field: 'setupScript',
    on: {
      run: { help: 'setup script of the new sandbox: text, or @file', value: '<script>' },
      fanout: {
        help: 'setup script of the prepared sandbox: text, or @file',
        value: '<script>',
        rare: true,
        replaces: otherSources,
      },
    },
  },
  createBody: {
    kind: 'fields',
    of: 'command',
    on: {
      run: { help: `${furtherFields} that creates or forks the sandbox: JSON, or @file`, rare: true },
      fanout: { help: `${furtherFields} that creates the prepared sandbox, or forks from a snapshot`, rare: true },
    },
  },
  preparePut: {
    kind: 'files',
    of: 'command',
    on: {
      fanout: {
        help: 'a file or folder to write into the prepared sandbox (repeatable)',
        rare: true,
        replaces: otherSources,
      },
    },
  },
  command: {
    kind: 'commands',
    of: 'command',
    on: {
      fanout: {
        help: 'a command to run in the prepared sandbox, after the files (repeatable)',
        replaces: otherSources,
      },
    },
  },
  preparePrompt: {
    kind: 'prompts',
    of: 'command',
    on: {
      fanout: {
        help: 'a prompt for the prepared sandbox, after the commands, or @file (repeatable)',
        value: '<text>',
        rare: true,
        replaces: otherSources,
      },
    },
  },
  prepareType: {
    kind: 'choice',
    values: sizes,
    of: 'command',
    on: {
      fanout: {
        help: 'machine size of the prepared sandbox',
        value: '<size>',
        rare: true,
        replaces: otherSources,
      },
    },
  },
  prepareDeadline: {
    kind: 'duration',
    of: 'command',
    default: 3_600_000,
    on: { fanout: { help: 'deadline of the whole preparation', rare: true } },
  },
  prepareEnd: {
    kind: 'choice',
    values: ['stop', 'delete'],
    of: 'command',
    default: 'stop',
    on: {
      fanout: {
        help: 'what to do with the prepared sandbox after the batch; after delete, the batch cannot be resumed',
        value: '<end>',
        rare: true,
      },
    },
  },

  /** Number of items that may run concurrently. */
  concurrency: {
    kind: 'count',
    least: 1,
    most: 10_000,
    of: 'policy',
    default: 20,
    on: {
      fanout: { help: 'maximum number of forks that run at once', most: 2_000, project: true },
      resume: { help: 'maximum number of forks that run at once', most: 2_000 },
    },
  },
  /**
   * `go_on`: run every item. `fail_fast`: the first final failure ends the batch. `successes`: `count` successes end it.
   */
  stopAt: { kind: 'stopAt', of: 'policy', default: { kind: 'go_on' } },
  /** Number of retries of a failed item, each as its next generation, in a new fork. */
  retries: {
    kind: 'count',
    least: 0,
    // Each retry needs another fork and costs as much as the first try.
    most: 10,
    of: 'policy',
    default: 0,
    on: {
      fanout: { help: 'how often to retry a failed item, each time in a new fork', project: true },
      resume: { help: 'how often to retry a failed item, each time in a new fork' },
    },
  },
  first: {
    kind: 'count',
    least: 1,
    most: 1_000_000,
    of: 'command',
    on: {
      fanout: {
        rare: true,
        help: 'end after this many successes; interrupt and clean up the rest',
        project: true,
        excludes: [[['failFast']]],
        replaces: ['failFast'],
      },
      resume: {
        help: 'end after this many successes; interrupt and clean up the rest',
        excludes: [[['failFast']]],
      },
    },
  },
  failFast: {
    kind: 'flag',
    of: 'command',
    on: {
      fanout: { rare: true, help: 'end when an item has failed its last attempt', project: true, replaces: ['first'] },
      resume: { help: 'end when an item has failed its last attempt' },
    },
  },
  /** Hard deadline of each item, in ms from its fork. */
  itemDeadline: {
    kind: 'duration',
    of: 'policy',
    field: 'itemDeadlineMs',
    default: 3_600_000,
    on: {
      fanout: { help: 'hard deadline of each item', project: true },
      resume: { help: 'hard deadline of each item' },
    },
  },
  /** Hard deadline of the whole batch, in ms from its start. Cleanup runs after it. */
  batchDeadline: {
    kind: 'duration',
    of: 'policy',
    name: 'deadline',
    field: 'deadlineMs',
    default: 86_400_000,
    on: {
      fanout: { rare: true, help: 'hard deadline of the batch, before clean-up', project: true },
      resume: { help: 'hard deadline of the batch, before clean-up' },
    },
  },
  /** Machine-seconds that all forks together may use, weighted by machine size. Null: no limit. */
  budget: {
    kind: 'budget',
    of: 'policy',
    field: 'budgetSeconds',
    default: null,
    orNull: true,
    on: {
      fanout: {
        help: 'limit of machine time for all forks together, like 10h or 90m; a larger machine size counts more',
        project: true,
      },
      resume: {
        help: 'limit of machine time for all forks together, like 10h or 90m; a larger machine size counts more',
      },
    },
  },

  /** Machine size. Null in a policy: that of the source. */
  type: {
    kind: 'choice',
    values: sizes,
    of: 'sandbox',
    batch: { default: null, orNull: true },
    item: true,
    on: {
      run: { help: 'machine size', value: '<size>', project: true },
      fanout: {
        rare: true,
        help: 'machine size of the forks (default: that of the source)',
        value: '<size>',
        project: true,
      },
      resume: { help: 'machine size of the forks', value: '<size>' },
    },
  },
  /** False for a sandbox without snapshots. */
  snapshots: {
    kind: 'flag',
    of: 'sandbox',
    sets: false,
    batch: {},
    on: {
      run: { help: 'create the sandbox with snapshots off', rare: true },
      fanout: { help: 'create the forks with snapshots off', rare: true },
    },
  },
  /** False for a sandbox without monitoring. */
  monitoring: {
    kind: 'flag',
    of: 'sandbox',
    sets: false,
    batch: {},
    on: {
      run: { help: 'create the sandbox with monitoring off', rare: true },
      fanout: { help: 'create the forks with monitoring off', rare: true },
    },
  },
  /** Further fields of the requests that create the forks, sent unchanged. Default: none. */
  forkBody: {
    kind: 'fields',
    of: 'policy',
    on: { fanout: { help: `${furtherFields} that creates each fork: JSON, or @file`, rare: true } },
  },
  /** What happens to the sandbox at the end. */
  end: {
    kind: 'choice',
    values: ends,
    of: 'job',
    required: true,
    batch: { default: 'stop' },
    item: true,
    on: {
      run: {
        help: 'what to do with the sandbox at the end (default: stop, or keep with --sandbox)',
        value: '<end>',
        project: true,
      },
      fanout: { help: 'what to do with each fork at the end', value: '<end>', project: true },
      resume: { help: 'what to do with each fork at the end', value: '<end>' },
      continue: {
        help: 'what to do with the sandbox at the end (default: as the earlier job)',
        value: '<end>',
      },
    },
  },
  /** Hard deadline, in ms from the start of the job; for an item, from its fork. Cleanup runs after it. */
  deadline: {
    kind: 'duration',
    of: 'job',
    field: 'deadlineMs',
    default: 3_600_000,
    item: true,
    on: { run: { help: 'hard deadline of the job, before clean-up', project: true } },
  },
  /**
   * Auto-stop of the sandbox, in seconds; renewed while the job runs. If Temporal itself is lost, only the auto-stop ends
   * the sandbox. Null: the sandbox never stops by itself.
   */
  ttl: {
    kind: 'ttl',
    of: 'job',
    field: 'ttlSeconds',
    default: 1_800,
    orNull: true,
    batch: { default: 1_800 },
    on: {
      run: {
        help: 'time until the sandbox stops itself, renewed while the job runs; none: never',
        rare: true,
        project: true,
      },
      fanout: { help: 'time until a fork stops itself, renewed while its item runs', rare: true, project: true },
      resume: { help: 'time until a fork stops itself, renewed while its item runs' },
    },
  },
  /** What to do if the outcome of a call is unknown: wait for a person, or decide immediately. */
  onUnknown: {
    kind: 'choice',
    values: ['wait', 'abandon', 'resend'],
    of: 'job',
    field: 'onUnknownOutcome',
    default: 'wait',
    batch: { default: 'abandon' },
    on: {
      run: { help: 'what to do if it is unknown whether a call took effect', value: '<action>', rare: true },
      fanout: {
        help: 'what to do if it is unknown whether a prompt was accepted',
        value: '<action>',
        values: ['abandon', 'resend'],
        rare: true,
      },
      resume: {
        help: 'what to do if it is unknown whether a prompt was accepted',
        value: '<action>',
        values: ['abandon', 'resend'],
      },
    },
  },
  /** Total attempts for a create whose sandbox becomes `cancelled`: it found no machine, and a later attempt may. */
  maxGenerations: { kind: 'count', least: 1, most: 999, of: 'job', default: 3 },
  /** The target of notifications. Default: none. */
  notify: {
    kind: 'notify',
    of: 'job',
    on: {
      run: { help: notifies('job'), rare: true },
      fanout: { help: notifies('batch'), rare: true },
    },
  },
  /**
   * What to do about a stop that has not ended at the end: the workflow `sandbox-stop/<sandboxId>` follows it and takes
   * these steps. Default: nothing, and the result names the sandbox in `left`.
   */
  escalate: {
    kind: 'escalation',
    of: 'job',
    batch: {},
    on: {
      run: { help: escalates('at the end'), rare: true },
      fanout: { help: escalates('of a fork'), rare: true },
      resume: { help: escalates('of a fork') },
    },
  },
  escalateMayDelete: {
    kind: 'flag',
    of: 'command',
    on: {
      run: {
        help: 'with --escalate: permit steps that delete the sandbox and all its data',
        rare: true,
        requires: [['escalate']],
      },
      fanout: {
        help: 'with --escalate: permit steps that delete the fork and all its data',
        rare: true,
        requires: [['escalate']],
      },
      resume: {
        help: 'with --escalate: permit steps that delete the fork and all its data',
        requires: [['escalate']],
      },
    },
  },
  /** Overrides of the intervals of the job. Default: none. */
  timing: { kind: 'timing', of: 'job' },
  /** History length, in events, after which the job continues as a new run. Default: when Temporal suggests it. */
  maxHistoryEvents: { kind: 'count', least: 1, of: 'job' },
  labels: {
    kind: 'labels',
    of: 'command',
    on: {
      run: { help: 'label that lists show and select by (repeatable)', rare: true, project: true },
      fanout: { help: 'label that lists show and select by (repeatable)', rare: true, project: true },
    },
  },
  title: {
    kind: 'name',
    of: 'command',
    on: { fanout: { help: 'title for lists and the report', value: '<title>', rare: true } },
  },
} as const satisfies Readonly<Record<string, Setting>>;
