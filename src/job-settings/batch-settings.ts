/** The settings that only a batch has: its source, its limits, and when it ends. See `job-settings.ts`. */
import { machineSizes } from '../contract/workflow-safe/machine-types.js';
import { rareInProject, type Setting } from './setting.js';

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
/** `prepareFanout` sets it, and not the row: the digest of a batch from before the breaker must stay the same. */
export const defaultBreaker = 5;
/** No default of the row, for the same reason. */
export const defaultSourcesAtOnce = 5;
const holds = 'start no more items after this many equal permanent failures in a row; 0: go on';
const replacesPrepared = 'replaces the prepared sandbox';
export const otherSources = ['source', 'snapshot'];
/** Of an option that prepares a sandbox. */
const preparedBy = { rare: true, replaces: otherSources } as const;
const endsAfter = 'end after this many successes; interrupt and clean up the rest';
const notBoth = [[['failFast']]] as const;
const limits = 'limit of machine time for all forks together, like 10h or 90m; a larger machine size counts more';

export const batchSettings = {
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
  preparePut: {
    kind: 'files',
    of: 'command',
    on: {
      fanout: { help: 'a file or folder to write into the prepared sandbox (repeatable)', ...preparedBy },
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
        ...preparedBy,
      },
    },
  },
  prepareType: {
    kind: 'choice',
    values: machineSizes,
    of: 'command',
    on: { fanout: { help: 'machine size of the prepared sandbox', value: '<size>', ...preparedBy } },
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
  /** Number of sources that are prepared or ready at once, if the items name several. Default: 5. */
  sourcesAtOnce: {
    kind: 'count',
    least: 1,
    most: 100,
    of: 'policy',
    on: {
      fanout: {
        help: `with a source per item: maximum number of sources that are prepared or ready at once (default: ${defaultSourcesAtOnce})`,
        ...rareInProject,
      },
      resume: { help: 'maximum number of sources that are prepared or ready at once' },
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
  /** Number of items, from the first, that run before the others. Default: 0. */
  canary: {
    kind: 'count',
    least: 0,
    most: 1_000,
    of: 'policy',
    on: {
      fanout: { help: 'run this many items first; the others start unless all these fail alike', ...rareInProject },
    },
  },
  /** Number of equal permanent failures in a row that hold the batch. Zero: none does. */
  breaker: {
    kind: 'count',
    least: 0,
    most: 1_000,
    of: 'policy',
    on: {
      fanout: { help: `${holds} (default: ${defaultBreaker})`, ...rareInProject },
      resume: { help: holds },
    },
  },
  first: {
    kind: 'count',
    least: 1,
    most: 1_000_000,
    of: 'command',
    on: {
      fanout: { help: endsAfter, ...rareInProject, excludes: notBoth, replaces: ['failFast'] },
      resume: { help: endsAfter, excludes: notBoth },
    },
  },
  failFast: {
    kind: 'flag',
    of: 'command',
    on: {
      fanout: { help: 'end when an item has failed its last attempt', ...rareInProject, replaces: ['first'] },
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
      fanout: { help: 'hard deadline of the batch, before clean-up', ...rareInProject },
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
    on: { fanout: { help: limits, project: true }, resume: { help: limits } },
  },
  title: {
    kind: 'name',
    of: 'command',
    on: { fanout: { help: 'title for lists and the report', value: '<title>', rare: true } },
  },
} as const satisfies Readonly<Record<string, Setting>>;
