/** Reads items from text: one prompt per line, blocks between lines of `---`, or a whole file as one prompt. */
import { blockProblem, lineProblem } from './file-kinds.js';
import { type ItemLine, type ItemPlace, ItemsError, plainItem, type ReadLinesOptions } from './item-line.js';
import { decode, maxItemBytes, readLines, refuseCrLines, tooLongText } from './lines.js';

const divider = '---';

interface ReadTextOptions extends Pick<ReadLinesOptions, 'template'> {
  /** True if nobody said that the file is text: signs of another kind are then an error. */
  readonly guessed: boolean;
}

/**
 * Reads one prompt per line, and skips blank lines and lines that begin with `#`. If the first line that is not skipped
 * is `---`, prompts may have several lines. Each prompt then continues to the next line of `---`, and includes lines
 * that begin with `#`.
 * @throws ItemsError
 */
export async function* readTextLines(
  file: string,
  content: AsyncIterable<string | Uint8Array>,
  { template, guessed }: ReadTextOptions,
): AsyncGenerator<ItemLine> {
  let blocks: boolean | undefined;
  let block: string[] = [];
  let begin = 0;
  let before = '';
  const blockItem = (): ItemLine => {
    const prompt = block.join('\n').trimEnd();
    const place = { file, line: begin };
    refuse(place, guessed ? blockProblem(prompt) : undefined);
    return itemOf(place, prompt, template);
  };
  for await (const { number, text } of readLines(file, content)) {
    const isDivider = text.trimEnd() === divider;
    if (blocks) {
      if (!isDivider) {
        if (block.length > 0 || text.trim() !== '') begin = block.push(text) === 1 ? number : begin;
        continue;
      }
      if (block.length > 0) yield blockItem();
      block = [];
      continue;
    }
    const place = { file, line: number };
    if (isDivider && blocks === false) {
      const why = `a line of ${divider} separates prompts of several lines only if the file begins with ${divider}. Add it as the first line.`;
      throw new ItemsError(place, why);
    }
    const isSkipped = text.trim() === '' || text.startsWith('#');
    if (guessed && !isDivider && text.trim() !== '') {
      refuse(place, lineProblem(text, { before, isFirst: blocks === undefined && !isSkipped }));
    }
    before = isSkipped ? '' : text;
    if (isSkipped) continue;
    blocks ??= isDivider;
    if (!blocks) yield itemOf(place, text.trim(), template);
  }
  if (block.length > 0) yield blockItem();
}

/** Reads the whole file as one prompt, as `run` does. @throws ItemsError */
export async function* readWholeFile(
  file: string,
  content: AsyncIterable<string | Uint8Array>,
  { template }: Pick<ReadLinesOptions, 'template'>,
): AsyncGenerator<ItemLine> {
  const place = { file, line: 1 };
  let text = '';
  for await (const piece of decode(file, content)) {
    text += piece;
    refuse(place, text.length > maxItemBytes ? tooLongText('file') : undefined);
  }
  refuse(place, text.trim() === '' ? 'the file is empty.' : undefined);
  if (!text.includes('\n')) refuseCrLines(file, text);
  const item = itemOf(place, text, template);
  yield { ...item, labels: { file }, columns: new Map([...item.columns, ['file', file]]) };
}

/** @throws ItemsError if there is a problem */
function refuse(place: ItemPlace, problem: string | undefined): void {
  if (problem !== undefined) throw new ItemsError(place, problem);
}

function itemOf(place: ItemPlace, prompt: string, template: boolean): ItemLine {
  return {
    ...plainItem,
    place,
    id: null,
    prompts: template ? null : [{ prompt }],
    labels: {},
    columns: new Map([['prompt', prompt]]),
  };
}
