/** Makes the result of an item fit into one payload of Temporal, whose limit is 2 MiB. */
import type { PromptResult } from '../job.js';
import type { StartedItemResult } from './item-result.js';

/** A character takes up to three bytes. */
const maxLength = 600_000;
/** What all prompts and answers of a result that is too long may take together. */
const textLength = 300_000;

/**
 * Leaves a result of ordinary size as it is. In a longer one it cuts prompts and answers, and keeps the whole answers.
 * @param keep writes a whole text at a path below the item's, and gives its reference
 */
export async function fitResult(
  item: StartedItemResult,
  keep: (path: string, text: string) => Promise<string>,
): Promise<StartedItemResult> {
  if (JSON.stringify(item).length <= maxLength) return item;
  const cutAt = Math.floor(textLength / (2 * item.job.prompts.length));
  const prompts: PromptResult[] = [];
  for (const [index, prompt] of item.job.prompts.entries()) {
    const { result } = prompt;
    const isLong = result !== null && result.length > cutAt;
    const resultRef = isLong ? (prompt.resultRef ?? (await keep(`/results/${index}.txt`, result))) : prompt.resultRef;
    prompts.push({ ...prompt, prompt: cut(prompt.prompt, cutAt), result: result && cut(result, cutAt), resultRef });
  }
  return { ...item, job: { ...item.job, prompts } };
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}
