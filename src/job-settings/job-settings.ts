/**
 * Every setting of a job, of a batch and of its items, one row each. From the rows derive the types of the inputs
 * (`JobInput`, `FanoutPolicy`, `FanoutItem`), their schemas, the options of `run`, `fanout`, `fanout resume`, `continue`
 * and `jobs prompt`, the names in error messages, `sandflow.json`, the files of jobs and batches with their JSON schemas,
 * the fields of JSONL and CSV, and the tables of the documents.
 *
 * The rows are in the order of the fields of the inputs, on which digests depend.
 */
import { machineSizes } from '../contract/workflow-safe/machine-types.js';
import { batchSettings, otherSources } from './batch-settings.js';
import { promptSettings } from './prompt-settings.js';
import { rareInProject, type Setting } from './setting.js';

const notifies = (what: string) =>
  `notify a URL, slack:URL, teams:URL or discord:URL when the ${what} ends or is blocked`;
const escalates = (whose: string) =>
  `what to do if the stop ${whose} goes on failing, such as "30m: resume-and-stop, 2h: notify"; see \`stop\``;
const mayDelete = (whose: string) =>
  ({
    help: `with --escalate: permit steps that delete the ${whose} and all its data`,
    requires: [['escalate']],
  }) as const;
const priorities = 'where tasks wait for a worker, those of 1 go before those of 5 (default: 3)';
const fairness = 'keys share the workers evenly, however many jobs each has; a batch is one key';
const checkPrompts = 'the next prompt after a failed check, with {{command}}, {{exitCode}} and {{output}}';
const furtherFields = 'further fields of the request';

export const jobSettings = {
  ...promptSettings,
  ...batchSettings,
  /** `hydrated` also waits until every file of the snapshot is on disk. */
  waitFor: {
    kind: 'choice',
    value: '<state>',
    values: ['usable', 'hydrated'],
    of: 'job',
    default: 'usable',
    batch: {},
    on: {
      run: { help: 'when to start; hydrated waits until every file of a snapshot is on disk', ...rareInProject },
      fanout: { help: 'when an item starts; hydrated waits until every file of its fork is on disk', ...rareInProject },
    },
  },
  /** Files to write before the first prompt. */
  put: {
    kind: 'files',
    of: 'job',
    default: [],
    item: true,
    on: {
      run: { help: 'a file or folder to write before the first prompt; FOLDER/ keeps modes (repeatable)' },
      fanout: { help: 'a file or folder to write into each fork; FOLDER/ keeps modes (repeatable)' },
    },
  },
  /** Shell commands that run in order, after the files and before the prompts. A non-zero exit fails the job. */
  commands: { kind: 'commands', of: 'job' },
  /** A job needs at least one prompt or one command. */
  prompts: { kind: 'prompts', of: 'job', default: [] },
  /**
   * Shell commands that prove the work. They run after the prompts, and the job is `completed` only if each of them exits
   * with 0.
   */
  checks: {
    kind: 'commands',
    most: 10,
    of: 'job',
    batch: {},
    item: true,
    on: {
      run: { help: 'a command that proves the work: run after the prompts, it must exit with 0 (repeatable)' },
      fanout: { help: 'a command that proves the work of an item: run after its prompts (repeatable)' },
    },
  },
  /** How often the agent works at most: the failure of a check is its next prompt. Default: 1, no such prompt. */
  rounds: {
    kind: 'count',
    least: 1,
    most: 10,
    of: 'job',
    batch: {},
    on: {
      run: {
        help: 'with --check: how often the agent works at most; a failed check is its next prompt (default: 1)',
        rare: true,
        requires: [['checks']],
        excludes: [[['eachConversation']]],
      },
      fanout: {
        help: 'with --check: how often an agent works at most; a failed check is its next prompt (default: 1)',
        rare: true,
        excludes: [[['eachConversation']]],
      },
    },
  },
  /** The next prompt after a failed check, with `{{command}}`, `{{exitCode}}` and `{{output}}`. */
  checkPrompt: {
    kind: 'template',
    value: '<text>',
    names: ['command', 'exitCode', 'output'],
    most: 2_000,
    of: 'job',
    batch: {},
    on: {
      run: { help: `${checkPrompts}; text, or @file`, rare: true, requires: [['rounds']] },
      fanout: { help: `${checkPrompts}; text, or @file`, rare: true, requires: [['rounds']] },
    },
  },
  /** False: the checks do not run before the first prompt. */
  checkBefore: {
    kind: 'flag',
    of: 'job',
    sets: false,
    batch: {},
    on: {
      run: { help: 'do not run the checks before the first prompt, too', rare: true, requires: [['checks']] },
      fanout: { help: 'do not run the checks before the first prompt of an item, too', rare: true },
    },
  },
  /** Shell commands that run in order once the work is proven, before files are collected. A non-zero exit fails the job. */
  after: {
    kind: 'commands',
    most: 10,
    of: 'job',
    batch: {},
    on: {
      run: { help: 'a command to run once the work is proven, such as a push (repeatable)', rare: true },
      fanout: { help: 'a command to run once the work of an item is proven, such as a push (repeatable)', rare: true },
    },
  },
  /** Shell commands that run before the sandbox ends, however the job ends, within a share of its time for cleanup. */
  always: {
    kind: 'commands',
    most: 10,
    of: 'job',
    batch: {},
    on: {
      run: { help: 'a command to run before the sandbox ends, however the job ends (repeatable)', rare: true },
      fanout: { help: 'a command to run before a fork ends, however its item ends (repeatable)', rare: true },
    },
  },
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
    value: '<id>',
    of: 'job',
    field: 'conversationId',
    batch: {},
    on: {
      run: {
        help: 'with --sandbox or --fork: continue this conversation',
        rare: true,
        requires: [['sandbox', 'fork'], 'a new sandbox has no conversation'],
        excludes: [[['eachConversation']]],
      },
      fanout: { help: 'each item continues this conversation of its source, a sandbox, in its fork', rare: true },
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
      run: { help: 'a file, or a folder such as out/, to collect at the end (repeatable)' },
      fanout: { help: 'a file, or a folder such as out/, to collect from each fork (repeatable)' },
      resume: { help: 'where to save a file that the batch collects (repeatable)' },
      continue: { help: 'a file, or a folder such as out/, to collect at the end (repeatable)' },
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
      run: { help: 'collect what a git repository changed, as changes.patch (default: .)', value: '[remote[:local]]' },
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
  environment: {
    kind: 'name',
    of: 'sandbox',
    on: {
      run: { help: 'environment of the new sandbox', excludes: [[['env']]] },
      fanout: {
        rare: true,
        help: 'environment of the prepared sandbox, or of forks from a snapshot',
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
    value: '<script>',
    of: 'sandbox',
    field: 'setupScript',
    on: {
      run: { help: 'setup script of the new sandbox: text, or @file' },
      fanout: { help: 'setup script of the prepared sandbox: text, or @file', rare: true, replaces: otherSources },
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
  /** Machine size. Null in a policy: that of the source. */
  type: {
    kind: 'choice',
    value: '<size>',
    values: machineSizes,
    of: 'sandbox',
    batch: { default: null, orNull: true },
    item: true,
    on: {
      run: { help: 'machine size', project: true },
      fanout: { help: 'machine size of the forks (default: that of the source)', ...rareInProject },
      resume: { help: 'machine size of the forks' },
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
    values: ['stop', 'delete', 'keep'],
    of: 'job',
    required: true,
    batch: { default: 'stop' },
    item: true,
    on: {
      run: { help: 'what to do with the sandbox at the end (default: stop, or keep with --sandbox)', project: true },
      fanout: { help: 'what to do with each fork at the end', project: true },
      resume: { help: 'what to do with each fork at the end' },
      continue: { help: 'what to do with the sandbox at the end (default: as the earlier job)' },
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
      run: { help: 'time until the sandbox stops itself, renewed while the job runs; none: never', ...rareInProject },
      fanout: { help: 'time until a fork stops itself, renewed while its item runs', ...rareInProject },
      resume: { help: 'time until a fork stops itself, renewed while its item runs' },
    },
  },
  /** What to do if the outcome of a call is unknown: wait for a person, or decide immediately. */
  onUnknown: {
    kind: 'choice',
    value: '<action>',
    values: ['wait', 'abandon', 'resend'],
    of: 'job',
    field: 'onUnknownOutcome',
    default: 'wait',
    batch: { default: 'abandon' },
    on: {
      run: { help: 'what to do if it is unknown whether a call took effect', rare: true },
      fanout: {
        help: 'what to do if it is unknown whether a prompt was accepted',
        values: ['abandon', 'resend'],
        rare: true,
      },
      resume: { help: 'what to do if it is unknown whether a prompt was accepted', values: ['abandon', 'resend'] },
    },
  },
  /** Total attempts for a create whose sandbox becomes `cancelled`: it found no machine, and a later attempt may. */
  maxGenerations: { kind: 'count', least: 1, most: 999, of: 'job', default: 3 },
  /** The target of notifications. Default: none. */
  notify: {
    kind: 'notify',
    of: 'job',
    on: { run: { help: notifies('job'), rare: true }, fanout: { help: notifies('batch'), rare: true } },
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
      run: { ...mayDelete('sandbox'), rare: true },
      fanout: { ...mayDelete('fork'), rare: true },
      resume: mayDelete('fork'),
    },
  },
  /** Overrides of the intervals of the job. Default: none. */
  timing: { kind: 'timing', of: 'job' },
  /** History length, in events, after which the job continues as a new run. Default: when Temporal suggests it. */
  maxHistoryEvents: { kind: 'count', least: 1, of: 'job' },
  /** Which tasks go first where many wait for a worker: those of 1 before those of 5. Default: 3. */
  priority: {
    kind: 'count',
    value: '<1-5>',
    least: 1,
    most: 5,
    of: 'job',
    batch: {},
    on: { run: { help: priorities, rare: true }, fanout: { help: priorities, rare: true } },
  },
  /** Tasks of the same priority are shared evenly among keys. Default: the id of the batch; jobs without a key share one. */
  fairnessKey: {
    kind: 'name',
    // Temporal refuses a longer one.
    most: 64,
    of: 'job',
    batch: {},
    on: { run: { help: fairness, rare: true }, fanout: { help: fairness, rare: true } },
  },
  labels: {
    kind: 'labels',
    of: 'command',
    on: {
      run: { help: 'label that lists show and select by (repeatable)', ...rareInProject },
      fanout: { help: 'label that lists show and select by (repeatable)', ...rareInProject },
    },
  },
} as const satisfies Readonly<Record<string, Setting>>;
