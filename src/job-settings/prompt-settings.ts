/** The settings of prompts and of who answers them: see `job-settings.ts`. */
import { reasoningEfforts } from '../contract/workflow-safe/reasoning-efforts.js';
import { rareInProject, type Setting } from './setting.js';

const harness = 'agent harness, such as codex or claude-code';
const axis = (names: string) => `${names}, separated by commas; each item runs with each of them`;

export const promptSettings = {
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
  /** For texts of other people, such as an issue. */
  promptText: {
    kind: 'prompts',
    value: '<text>',
    of: 'command',
    asIs: true,
    on: {
      run: { help: 'a prompt as it is, never a file, not even with @ (repeatable)', rare: true },
      continue: { help: 'the prompt as it is, never a file, not even with @' },
      prompt: { help: 'the prompt as it is, never a file, not even with @' },
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
    value: '<level>',
    values: reasoningEfforts,
    of: 'prompt',
    field: 'reasoningEffort',
    item: true,
    on: {
      run: { help: 'reasoning effort', ...rareInProject },
      fanout: { help: axis('reasoning efforts'), value: '<levels>', several: true, ...rareInProject },
      resume: { help: 'another reasoning effort' },
      continue: { help: 'another reasoning effort' },
      prompt: { help: 'reasoning effort' },
    },
  },
  promptBody: {
    kind: 'fields',
    of: 'command',
    on: {
      run: { help: 'further fields of the request of each prompt: JSON, or @file', rare: true },
      fanout: { help: 'further fields of the request of each prompt: JSON, or @file', rare: true },
    },
  },
  repeat: {
    kind: 'count',
    least: 1,
    most: 1_000,
    of: 'command',
    default: 1,
    on: { fanout: { help: 'how many times to run each item', ...rareInProject } },
  },
} as const satisfies Readonly<Record<string, Setting>>;
