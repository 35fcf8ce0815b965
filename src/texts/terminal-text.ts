/**
 * Reads what programs write for a terminal: colours, cursor movements, lines that are drawn again. No dependencies. The
 * colours and progress bars of agents filled the screen with replacement characters.
 */

/**
 * Complete sequences, and the beginnings of incomplete ones. Takes linear time: no part of a sequence contains the
 * character that begins one.
 */
const sequences =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences of terminals are what it removes
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b[\]PX^_][^\u0007\u001b\u009c\n]*(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]*[0-~]/g;

// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const colours = /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]/g;

/**
 * Removes colours and cursor movements only, from a sentence that holds several foreign texts: what begins in one of
 * them and ends in another, such as a title, must not take the words between them along.
 */
export function withoutColours(text: string): string {
  return text.replace(colours, '');
}

/** Removes the control sequences of terminals. Other control characters remain. */
export function withoutSequences(text: string): string {
  return text.replace(sequences, '');
}

/**
 * The text that a terminal shows in the end: without control sequences, and of each line only what was drawn last,
 * which is what follows its last carriage return. A progress bar is then one short line.
 */
export function lastDrawn(text: string): string {
  return withoutSequences(text).split('\n').map(lastRedraw).join('\n');
}

function lastRedraw(line: string): string {
  let end = line.length;
  // The line may end in CRLF, or be drawn with the return at its end.
  while (line[end - 1] === '\r') end -= 1;
  return line.slice(line.lastIndexOf('\r', end - 1) + 1, end);
}
