/** Reads items from a text file: one prompt per line, or blocks between lines of `---`. */
import { type ItemLine, type ItemPlace, ItemsError, type ReadLinesOptions } from './item-line.js';
import { readLines } from './lines.js';

const divider = '---';

/**
 * Reads one prompt per line, and skips blank lines and lines that begin with `#`. If the first line that is not skipped
 * is `---`, prompts may have several lines. Each prompt then continues to the next line of `---`, and includes lines
 * that begin with `#`.
 * @throws ItemsError
 */
export async function* readTextLines(
  file: string,
  content: AsyncIterable<string | Uint8Array>,
  { template }: Pick<ReadLinesOptions, 'template'>,
): AsyncGenerator<ItemLine> {
  let blocks: boolean | undefined;
  let block: string[] = [];
  let begin = 0;
  for await (const { number, text } of readLines(file, content)) {
    const isDivider = text.trimEnd() === divider;
    if (blocks) {
      if (!isDivider) {
        if (block.length > 0 || text.trim() !== '') begin = block.push(text) === 1 ? number : begin;
        continue;
      }
      if (block.length > 0) yield itemOf({ file, line: begin }, block.join('\n').trimEnd(), template);
      block = [];
      continue;
    }
    if (text.trim() === '' || text.startsWith('#')) continue;
    if (isDivider && blocks === false) {
      throw new ItemsError(
        { file, line: number },
        `a line of ${divider} separates prompts of several lines only if the file begins with ${divider}. Add it as the first line.`,
      );
    }
    blocks ??= isDivider;
    if (!blocks) yield itemOf({ file, line: number }, text.trim(), template);
  }
  if (block.length > 0) yield itemOf({ file, line: begin }, block.join('\n').trimEnd(), template);
}

function itemOf(place: ItemPlace, prompt: string, template: boolean): ItemLine {
  return {
    place,
    id: null,
    prompts: template ? null : [{ prompt }],
    choice: {},
    settings: {},
    put: [],
    get: [],
    labels: {},
    columns: new Map([['prompt', prompt]]),
  };
}
