/** Reads the answers of the scripts that collect a patch. A sandbox is not trusted, so every part is checked. Pure. */
import { createHash } from 'node:crypto';
import { cut } from '../../src/texts/length.js';
import { type DiffWord, diffTag, diffWords } from './diff-script.js';

export interface DiffAnswer {
  readonly word: DiffWord;
  /** The lines after the first one. */
  readonly lines: readonly string[];
}

export interface PatchHead {
  readonly size: number;
  /** Id of the patch as an object of git. */
  readonly id: string;
  readonly submodules: number;
  /** Names of the filters that were switched off; null if there are none. */
  readonly filters: string | null;
  /** What git said about the files that it could not read; null if there are none. */
  readonly missed: string | null;
  /** Undefined if the content is incomplete. */
  readonly content: Buffer | undefined;
}

const objectId = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Undefined if the output is not an answer. */
export function readDiffAnswer(stdout: string): DiffAnswer | undefined {
  const at = stdout.startsWith(`${diffTag} `) ? 0 : stdout.indexOf(`\n${diffTag} `) + 1;
  if (at === 0 && !stdout.startsWith(diffTag)) return undefined;
  const [first = '', ...lines] = stdout.slice(at).split('\n');
  const word = diffWords.find((known) => first === `${diffTag} ${known}`);
  return word && { word, lines };
}

/** The message of an answer, for people. */
export function messageOf({ lines }: DiffAnswer): string {
  return cut(lines.join(' ').replace(/\s+/g, ' ').trim(), 500);
}

/** The commit (null if there is none) and the top folder. Undefined if the answer is incomplete. */
export function readBase({ lines }: DiffAnswer): { commit: string | null; repository: string } | undefined {
  const [commit = '', ...rest] = lines;
  // A name may hold line breaks; the last one ends the answer.
  const repository = rest.join('\n').replace(/\n$/, '');
  if (commit !== 'none' && !objectId.test(commit)) return undefined;
  if (!repository.startsWith('/') || repository.length > 4_096 || repository.includes('\0')) return undefined;
  return { commit: commit === 'none' ? null : commit, repository };
}

/** Undefined if the answer is incomplete. */
export function readPatchHead(answer: DiffAnswer): PatchHead | undefined {
  const end = answer.lines.indexOf('content');
  const fields = new Map(answer.lines.slice(0, Math.max(0, end)).map(fieldOf));
  const [size, submodules] = [numberOf(fields.get('size')), numberOf(fields.get('submodules'))];
  const id = fields.get('id') ?? '';
  if (end < 0 || size === undefined || submodules === undefined || !objectId.test(id)) return undefined;
  const [filters = null, missed = null] = [fields.get('filters')?.trim(), fields.get('missed')];
  return { size, id, submodules, filters, missed, content: readContent(answer) };
}

/** The bytes between `content` and `end`; undefined if the service has cut them. */
export function readContent({ lines }: DiffAnswer): Buffer | undefined {
  const [begin, end] = [lines.indexOf('content'), lines.lastIndexOf('end')];
  if (begin < 0 || end < begin) return undefined;
  const text = lines
    .slice(begin + 1, end)
    .join('')
    .replaceAll('\r', '');
  return /^[A-Za-z0-9+/]*={0,2}$/.test(text) ? Buffer.from(text, 'base64') : undefined;
}

/** True if git gives `content` this id. */
export function hasId(content: Buffer, id: string): boolean {
  const hash = createHash(id.length === 40 ? 'sha1' : 'sha256');
  return hash.update(`blob ${content.byteLength}\0`).update(content).digest('hex') === id;
}

/** Number of files that a patch changes. Only headers begin like this, because lines of files begin with a mark. */
export function changedFilesOf(patch: Buffer): number {
  let files = 0;
  for (let at = 0; at >= 0 && at < patch.length; ) {
    if (patch.subarray(at, at + 11).toString('latin1') === 'diff --git ') files += 1;
    const end = patch.indexOf(0x0a, at);
    at = end < 0 ? -1 : end + 1;
  }
  return files;
}

function fieldOf(line: string): [string, string] {
  const space = line.indexOf(' ');
  return space < 0 ? [line, ''] : [line.slice(0, space), line.slice(space + 1)];
}

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : undefined;
}
