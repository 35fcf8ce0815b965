/** `sandflow fanout results` and `fanout report`: they read the result store, even while the batch runs. */
import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { isFolderPath } from '../../../contract/workflow-safe/folder-path.js';
import { fanoutItemResults } from '../../../result-store/index.js';
import { fanoutProgress } from '../../../workflow-client/fanouts/fanout-client.js';
import type { CommandContext } from '../../command.js';
import { exitCodes } from '../../exit-codes.js';
import { jsonText } from '../../output/json.js';
import { createPacedWrite } from '../../output/paced-output.js';
import { createPreviews } from '../../output/previews.js';
import { readReportContext } from '../../output/report-context.js';
import { pathInside } from '../../place-below.js';
import { plural } from '../../units.js';
import type { resultFormats } from '../options.js';
import { claimResultFolder, folderOf } from '../result-places.js';
import { withBatch } from '../with-batch.js';
import { withWholeAnswers, writeReport } from './download-results.js';
import { createItemFolders } from './item-folders.js';
import { jUnitOf, lacksPatch, predictionOf } from './result-formats.js';

/** In a format of other programs, they are those that are there when the command begins. */
export function printResults(
  batchId: string,
  { format, modelName }: { readonly format: (typeof resultFormats)[number]; readonly modelName?: string },
  context: CommandContext,
): Promise<void> {
  const write = createPacedWrite(context.io);
  return withBatch(context, {}, async (platform) => {
    const { deployment } = platform.config;
    const { batchKey } = await fanoutProgress(platform.temporal, { deployment, batchId });
    const items = fanoutItemResults(platform.results, { deployment, batchId, batchKey });
    const read = (ref: string) => platform.results.get(ref);
    let withoutPatch = 0;
    const texts = async function* () {
      for await (const item of items) {
        if (format === 'predictions') {
          if (lacksPatch(item)) withoutPatch += 1;
          yield `${await predictionOf(item, read, modelName)}\n`;
        } else yield `${jsonText(await withWholeAnswers(item, read))}\n`;
      }
    };
    for await (const text of format === 'junit' ? jUnitOf(batchId, items) : texts()) if (!(await write(text))) return;
    if (withoutPatch === 0) return;
    context.exitCode = exitCodes.otherOutcome;
    context.io.stderr.write(
      `${plural(withoutPatch, 'item')} that completed or cannot be read by this version: no patch. It counts as not resolved. Start a batch with --get-diff for patches.\n`,
    );
  });
}

/** Writes the report, and prints its path on stdout. */
export function reportBatch(
  batchId: string,
  { out }: { readonly out?: string },
  context: CommandContext,
): Promise<void> {
  const { io } = context;
  return withBatch(context, {}, async (platform) => {
    const { deployment } = platform.config;
    const result = await fanoutProgress(platform.temporal, { deployment, batchId });
    const path = resolve(io.cwd, out ?? join(folderOf(batchId), 'report.html'));
    const previews = createPreviews();
    const { createFanoutReport } = await import('../../../report/fanout-report.js');
    const report = createFanoutReport(result, previews.all, await readReportContext(platform));
    const itemFolderOf = createItemFolders();
    for await (const item of fanoutItemResults(platform.results, { deployment, batchId, batchKey: result.batchKey })) {
      const saved = new Map<string, string>();
      for (const { path: remote, ref } of item.job?.files ?? []) {
        if (ref === null) continue;
        const content = isFolderPath(remote) ? undefined : await platform.results.get(ref).catch(() => undefined);
        if (content) previews.add(ref, content);
        // Beside a page at another place, there may be files of another batch.
        if (out !== undefined) continue;
        const place = `files/${itemFolderOf(item)}/${pathInside(remote)}`;
        if (existsSync(join(dirname(path), place))) saved.set(remote, place);
      }
      report.add(item, saved);
    }
    if (out === undefined) await claimResultFolder({ deployment, batchId }, {}, io);
    await writeReport(path, report);
    io.stdout.write(`${relative(io.cwd, path) || path}\n`);
  });
}
