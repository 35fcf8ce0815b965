/**
 * Aligns texts side by side by their equal lines.
 * @typedef {{ readonly same: boolean, readonly lines: readonly (string | null)[] }} AlignedRow `null` if a text has no line
 */

/**
 * If the differing parts of two texts have more pairs of lines than this, no equal lines are searched for in these
 * parts.
 */
const mostPairs = 4_000_000;

/**
 * @param {readonly string[]} texts at least one
 * @returns {AlignedRow[]} rows that hold each line of every text once, in order
 */
export function alignTexts(texts) {
  const all = texts.map((text) => text.split('\n'));
  const [base, ...others] = all;
  const matches = others.map((lines) => matchLines(base, lines));
  /** @type {AlignedRow[]} */
  const rows = [];
  const at = all.map(() => 0);
  const fillUpTo = (/** @type {readonly number[]} */ ends) => {
    const height = Math.max(...ends.map((end, column) => end - at[column]));
    for (let row = 0; row < height; row += 1) {
      const lines = all.map((own, column) => (at[column] + row < ends[column] ? own[at[column] + row] : null));
      rows.push({ same: lines.every((line) => line === lines[0]), lines });
    }
  };
  for (let line = 0; line < base.length; line += 1) {
    const places = [line, ...matches.map((match) => match.get(line) ?? -1)];
    if (places.includes(-1)) continue;
    fillUpTo(places);
    rows.push({ same: true, lines: all.map(() => base[line]) });
    for (const [column, place] of places.entries()) at[column] = place + 1;
  }
  fillUpTo(all.map((lines) => lines.length));
  return rows;
}

/**
 * Finds a longest common subsequence.
 * @param {readonly string[]} left
 * @param {readonly string[]} right
 * @returns {Map<number, number>} places in `left` → places of the equal lines in `right`, both ascending
 */
export function matchLines(left, right) {
  /** @type {Map<number, number>} */
  const found = new Map();
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) {
    found.set(start, start);
    start += 1;
  }
  let [leftEnd, rightEnd] = [left.length, right.length];
  while (leftEnd > start && rightEnd > start && left[leftEnd - 1] === right[rightEnd - 1]) {
    leftEnd -= 1;
    rightEnd -= 1;
  }
  const [height, width] = [leftEnd - start, rightEnd - start];
  if (height > 0 && width > 0 && height * width <= mostPairs) {
    const table = commonLengths(left.slice(start, leftEnd), right.slice(start, rightEnd));
    let [row, column] = [0, 0];
    while (row < height && column < width) {
      const here = row * (width + 1) + column;
      if (left[start + row] === right[start + column]) {
        found.set(start + row, start + column);
        row += 1;
        column += 1;
      } else if (table[here + width + 1] >= table[here + 1]) row += 1;
      else column += 1;
    }
  }
  for (let step = 0; leftEnd + step < left.length; step += 1) found.set(leftEnd + step, rightEnd + step);
  return found;
}

/**
 * Computes, for each pair of places, the length of the longest common subsequence of the lines from there on.
 * @param {readonly string[]} left
 * @param {readonly string[]} right
 */
function commonLengths(left, right) {
  const width = right.length + 1;
  const table = new Uint16Array((left.length + 1) * width);
  for (let row = left.length - 1; row >= 0; row -= 1) {
    for (let column = right.length - 1; column >= 0; column -= 1) {
      const here = row * width + column;
      table[here] =
        left[row] === right[column] ? table[here + width + 1] + 1 : Math.max(table[here + width], table[here + 1]);
    }
  }
  return table;
}

/**
 * Measures the common beginning and the common end of all lines, in whole words.
 * @param {readonly string[]} lines at least one
 * @returns {{ start: number, end: number }} lengths that do not overlap in any line
 */
export function commonEnds(lines) {
  const shortest = Math.min(...lines.map((line) => line.length));
  const [first] = lines;
  let start = 0;
  while (start < shortest && lines.every((line) => line[start] === first[start])) start += 1;
  while (start > 0 && start < first.length && /[\p{L}\p{N}\p{M}\p{Cs}]/u.test(first[start - 1])) start -= 1;
  let end = 0;
  while (end < shortest - start && lines.every((line) => line[line.length - 1 - end] === first[first.length - 1 - end]))
    end += 1;
  while (end > 0 && /[\p{L}\p{N}\p{M}\p{Cs}]/u.test(first[first.length - end])) end -= 1;
  return { start, end };
}
