/** Loads the files that items name: small ones into the item itself, larger ones into the result store. */

import { collectProblem, leadsOutOfSandbox, leadsOutText } from '../../../contract/remote-paths.js';
import { ItemsError, type ItemWish } from '../../../fanout/index.js';
import type { FanoutItem } from '../../../protocol/fanout/fanout-input.js';
import type { FilePut } from '../../../protocol/job/job-input.js';
import { patchName } from '../../../protocol/job/patch-name.js';
import { collectsPatchTwice, patchNameTaken } from '../../../workflow-client/jobs/job-input.js';
import {
  findPutFiles,
  folderToCollect,
  type LocalFile,
  PutFileError,
  readPutFiles,
  scriptNotice,
} from '../../run/put-files.js';
import type { PutPair } from '../../settings/file-pairs.js';
import { UsageError } from '../../usage-error.js';
import { createItemPlaces, type ItemGets } from './item-places.js';

/** Small, because many items use the same files, and each item contains its own copy. */
const maxInlineBytes = 4 * 1024;

export interface ItemFilesOptions {
  readonly cwd: string;
  /** Files of every item. They come before the item's own files. */
  readonly put: readonly PutPair[];
  /** Files of every item to collect, and where they are saved. */
  readonly gets: ItemGets;
  /** The repository whose changes are collected, unless an item names another one. */
  readonly collectDiff?: string;
}

export interface ItemFiles {
  /**
   * Checks that every file of an item exists, and that each collected file has a place of its own.
   * @throws ItemsError if the item names files of its own; otherwise UsageError for the files of the options
   */
  check(wish: ItemWish): Promise<void>;
  /** A notice about the checked files that can be run here; undefined without one. */
  scriptNotice(): string | undefined;
  /** @param store stores a content and returns its reference */
  read(wish: ItemWish, store: (content: Buffer) => Promise<string>): Promise<FanoutItem>;
}

export function createItemFiles({ cwd, put: common, gets, collectDiff }: ItemFilesOptions): ItemFiles {
  const read = new Map<string, Promise<FilePut[]>>();
  const scripts = new Map<string, LocalFile>();
  let commonFiles: Promise<LocalFile[]> | undefined;

  function filesOf({ put, place }: ItemWish): Promise<LocalFile[]> {
    if (put.length === 0) {
      commonFiles ??= findPutFiles(common, cwd);
      return commonFiles;
    }
    return findPutFiles([...common, ...put], cwd).catch((cause: unknown) => {
      const message = cause instanceof Error ? cause.message : String(cause);
      throw new ItemsError(place, `put: ${cause instanceof PutFileError ? cause.problem : message}`, { cause });
    });
  }

  /** Reads and stores a file once, even if many items name it. */
  function readOnce(file: LocalFile, store: (content: Buffer) => Promise<string>): Promise<FilePut[]> {
    const key = `${file.localPath}\0${file.remotePath}`;
    const reading = read.get(key) ?? readPutFiles([file], store, { maxInlineBytes });
    read.set(key, reading);
    return reading;
  }

  function requireOwnPlaces(wish: ItemWish): void {
    const { collect, collectDiff: ownDiff } = wish;
    const diff = ownDiff ?? collectDiff;
    const placeOf = createItemPlaces(gets);
    try {
      const paths = [...gets.keys(), ...(collect ?? [])];
      if (collectsPatchTwice({ collect: paths, ...(diff !== undefined && { collectDiff: diff }) })) {
        throw new Error(`${patchNameTaken}.`);
      }
      for (const path of diff === undefined ? paths : [...paths, patchName]) placeOf(path);
    } catch (cause) {
      throw problemOf(wish, (cause as Error).message, cause);
    }
  }

  return {
    async check(wish) {
      const paths = {
        put: wish.put.map(({ remote }) => remote),
        get: wish.collect ?? [],
        getDiff: wish.collectDiff === undefined ? [] : [wish.collectDiff],
      };
      for (const [field, given] of Object.entries(paths)) {
        const outside = given.find(leadsOutOfSandbox);
        if (outside !== undefined) throw new ItemsError(wish.place, `${field}: ${outside} ${leadsOutText}.`);
      }
      for (const path of paths.get) {
        const problem = collectProblem(path);
        if (problem !== undefined) throw new ItemsError(wish.place, `get: ${path} ${problem}.`);
      }
      requireOwnPlaces(wish);
      const files = await filesOf(wish);
      const folder = folderToCollect([...gets.keys(), ...paths.get], files);
      if (folder !== undefined) throw problemOf(wish, folder);
      for (const file of files) if (file.isExecutable || file.hasCr) scripts.set(file.remotePath, file);
    },
    scriptNotice: () => scriptNotice(scripts.values()),
    async read(wish, store) {
      const { place: _, put: __, namedAs: ___, source: ____, ...item } = wish;
      const put: FilePut[] = [];
      for (const file of await filesOf(wish)) put.push(...(await readOnce(file, store)));
      const paths = [...new Set([...gets.keys(), ...(wish.collect ?? [])])];
      const diff = wish.collectDiff ?? collectDiff;
      return {
        ...item,
        ...(diff !== undefined && { collectDiff: diff }),
        ...(put.length > 0 && { put }),
        ...(paths.length > 0 && { collect: paths }),
      };
    },
  };
}

/** Names the item if it has paths of its own; otherwise the option. */
function problemOf({ collect, collectDiff, put, place }: ItemWish, message: string, cause?: unknown): Error {
  const isOwn = collect !== undefined || collectDiff !== undefined || put.length > 0;
  return isOwn ? new ItemsError(place, `get: ${message}`, { cause }) : new UsageError(`--get: ${message}`, { cause });
}
