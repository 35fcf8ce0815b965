/**
 * Finds the shell blocks of a prompt: Markdown's fenced code blocks (by CommonMark's rules) that are labelled as shell.
 */

const shellLabels = new Set(['sh', 'bash', 'shell']);

interface Fence {
  readonly character: string;
  readonly length: number;
  readonly indentation: number;
  readonly label: string;
}

export interface FencedBlock {
  /** The first word after the opening fence, as written; empty if there is no word. */
  readonly label: string;
  /** The lines between the fences, each with its line end. */
  readonly content: string;
}

/** The contents of the blocks labelled `sh`, `bash` or `shell`, in order. */
export function shellBlocks(markdown: string): string[] {
  const blocks = fencedBlocks(markdown).filter(({ label }) => shellLabels.has(label.toLowerCase()));
  return blocks.map(({ content }) => content);
}

/** All fenced blocks at the top level. A block without a closing fence extends to the end of the text. */
export function fencedBlocks(markdown: string): FencedBlock[] {
  const blocks: FencedBlock[] = [];
  let open: { readonly fence: Fence; readonly lines: string[] } | undefined;
  const close = (): void => {
    if (open) blocks.push({ label: open.fence.label, content: open.lines.map((line) => `${line}\n`).join('') });
    open = undefined;
  };
  const lines = markdown.split(/\r\n|\n|\r/);
  // The line end of the last line does not begin another line.
  if (lines.at(-1) === '') lines.pop();
  for (const line of lines) {
    if (open === undefined) {
      const fence = openingFence(line);
      if (fence) open = { fence, lines: [] };
    } else if (closes(line, open.fence)) close();
    else open.lines.push(withoutIndentation(line, open.fence.indentation));
  }
  close();
  return blocks;
}

function openingFence(line: string): Fence | undefined {
  const match = /^( {0,3})(`{3,}|~{3,})(.*)$/.exec(line);
  if (!match) return undefined;
  const [, spaces = '', marks = '', info = ''] = match;
  // A line of backticks with another backtick later is inline code, not a fence.
  if (marks.startsWith('`') && info.includes('`')) return undefined;
  const label = info.trim().split(/[ \t]/)[0] ?? '';
  return { character: marks.charAt(0), length: marks.length, indentation: spaces.length, label };
}

function closes(line: string, fence: Fence): boolean {
  const match = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line);
  const marks = match?.[1] ?? '';
  return marks.startsWith(fence.character) && marks.length >= fence.length;
}

function withoutIndentation(line: string, indentation: number): string {
  let spaces = 0;
  while (spaces < indentation && line.charAt(spaces) === ' ') spaces += 1;
  return line.slice(spaces);
}
