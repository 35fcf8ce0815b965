/** Splits a JSON list into its entries without ever holding more than one entry. */
import { type ItemPlace, ItemsError } from './item-line.js';
import { decode, maxItemBytes, tooLongText } from './lines.js';

const noListText =
  'the file is not a JSON list. If each line is an item, use --format jsonl. If a field holds the list, take it out: jq .FIELD FILE > NEW_FILE';

interface JsonEntry {
  /** Where the entry begins. */
  readonly place: Required<ItemPlace>;
  /** Not yet parsed; it may be invalid. */
  readonly text: string;
}

/**
 * @throws ItemsError if the content is not one list, or is not UTF-8, or if an entry is longer than an item may be
 */
export async function* readJsonEntries(
  file: string,
  content: AsyncIterable<string | Uint8Array>,
): AsyncGenerator<JsonEntry> {
  let line = 1;
  let column = 0;
  let part: 'before' | 'within' | 'after' = 'before';
  let depth = 0;
  let string: 'none' | 'open' | 'escaped' = 'none';
  let begin: Required<ItemPlace> | undefined;
  let held = '';
  let entries = 0;
  const refuse = (why: string): never => {
    throw new ItemsError({ file, line, column }, why);
  };

  for await (const piece of decode(file, content)) {
    let from = 0;
    for (let at = 0; at < piece.length; at += 1) {
      const letter = piece[at] as string;
      if (letter === '\n') [line, column] = [line + 1, 0];
      else column += 1;
      if (begin === undefined && /\s/.test(letter)) continue;
      if (part === 'after') refuse('the list has ended, but the file goes on. Remove the rest.');
      if (part === 'before') {
        if (letter !== '[') refuse(noListText);
        part = 'within';
      } else if (string === 'none' && depth === 0 && (letter === ',' || letter === ']')) {
        if (letter === ']') part = 'after';
        if (begin !== undefined) yield { place: begin, text: (held + piece.slice(from, at)).trimEnd() };
        else if (letter === ',' || entries > 0) refuse('an entry of the list is missing. Remove a comma.');
        begin = undefined;
        held = '';
        entries += 1;
      } else {
        if (begin === undefined) [begin, from] = [{ file, line, column }, at];
        if (string === 'escaped') string = 'open';
        else if (letter === '"') string = string === 'open' ? 'none' : 'open';
        else if (string === 'open') string = letter === '\\' ? 'escaped' : 'open';
        else if (letter === '{' || letter === '[') depth += 1;
        else if (letter === '}' || letter === ']') depth -= 1;
      }
    }
    if (begin !== undefined) held += piece.slice(from);
    if (held.length > maxItemBytes) refuse(tooLongText('entry'));
  }
  if (part === 'within') refuse('the list is not closed. Add ] at its end.');
}
