/** Expands an item to one item for every combination of provider, model, effort and repeat. */

import type { OtherFields } from '../contract/workflow-safe/other-fields.js';
import type { FanoutItem } from '../protocol/fanout/fanout-input.js';
import type { PromptStep } from '../protocol/job/job-input.js';
import { itemFieldNames } from './item-fields.js';
import { type ItemLine, ItemsError, type PutWish, type SourceWish } from './item-line.js';

export interface Matrix {
  /**
   * If the list is empty, the item's own value or the default of the service applies. A single value applies to every
   * item that has no value of its own.
   */
  readonly providers: readonly string[];
  readonly models: readonly string[];
  readonly efforts: readonly NonNullable<PromptStep['reasoningEffort']>[];
  /** At least 1. */
  readonly repeats: number;
  /** Further fields of every prompt. Default: none. */
  readonly promptBody?: OtherFields;
}

/** An item whose files are named but not yet read. */
export interface ItemWish extends Omit<FanoutItem, 'put'> {
  readonly put: readonly PutWish[];
  readonly source?: SourceWish;
  readonly place: ItemLine['place'];
  readonly namedAs?: ItemLine['namedAs'];
}

interface Choice extends Pick<PromptStep, 'provider' | 'model' | 'reasoningEffort'> {
  /** The chosen values on the axes that have more than one value. They distinguish this item from the others. */
  readonly apart: Readonly<Record<string, string>>;
}

/**
 * Expands an item in the order provider, model, effort, repeat; the repeat changes fastest. The chosen values are
 * appended to the item's id, like `3/gpt-5/high/2`. Only axes with several values appear in ids and labels.
 * @throws ItemsError if an item has its own value for an axis with several values
 */
export function expandItem(line: ItemLine & { readonly id: string }, prompts: ItemPrompts, matrix: Matrix): ItemWish[] {
  const { place, namedAs, put, get, source, settings, labels } = line;
  for (const axis of ['provider', 'model', 'effort'] as const) {
    const own = line.choice[axis === 'effort' ? 'reasoningEffort' : axis];
    if (own !== undefined && matrix[`${axis}s`].length > 1) {
      const why = `the item sets ${axis} ${own}, but --${axis} has several values. Use only one of the two.`;
      throw new ItemsError(place, why);
    }
  }
  return choicesOf(matrix).map(({ apart, ...choice }) => ({
    place,
    ...(namedAs && { namedAs }),
    id: [line.id, ...Object.values(apart)].join('/'),
    prompts: prompts.map((step) => ({ ...stepOf(step, line, choice), ...matrix.promptBody })),
    put,
    ...(source && { source }),
    ...(get.length > 0 && { collect: get }),
    ...settings,
    labels: { ...labels, ...apart },
    ...columnsBeyond(line),
  }));
}

/** The columns that neither the id nor a label nor the prompt itself holds in full, so that a later template finds them. */
function columnsBeyond({ id, labels, columns, prompts, namedAs }: ItemLine): Pick<FanoutItem, 'columns'> {
  const isHeld = (name: string, text: string) =>
    labels[name] === text ||
    (name === 'id' && id === text) ||
    // Of a record of another program, no column is a field of the item.
    (namedAs ? prompts !== null && itemFieldNames.has(name) : name === 'prompt' && prompts?.[0]?.prompt === text);
  const beyond = [...columns].filter(([name, text]) => !isHeld(name, text));
  return beyond.length === 0 ? {} : { columns: Object.fromEntries(beyond) };
}

type ItemPrompts = readonly PromptStep[];

/** The step's own choice overrides the item's choice, which overrides the batch's choice. */
function stepOf({ prompt, ...own }: PromptStep, line: ItemLine, choice: Omit<Choice, 'apart'>): PromptStep {
  return { prompt, ...choice, ...line.choice, ...own };
}

function choicesOf({ providers, models, efforts, repeats }: Matrix): Choice[] {
  const turns = Array.from({ length: repeats }, (_, index) => String(index + 1));
  let choices: Choice[] = [{ apart: {} }];
  const addAxis = (name: string, values: readonly string[], field?: keyof PromptStep) => {
    if (values.length === 0) return;
    choices = choices.flatMap(({ apart, ...choice }) =>
      values.map((value) => ({
        ...choice,
        ...(field && { [field]: value }),
        apart: { ...apart, ...(values.length > 1 && { [name]: value }) },
      })),
    );
  };
  addAxis('provider', providers, 'provider');
  addAxis('model', models, 'model');
  addAxis('effort', efforts, 'reasoningEffort');
  addAxis('repeat', turns);
  return choices;
}
