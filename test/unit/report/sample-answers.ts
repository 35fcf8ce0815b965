/** Prompts and answers of the sample batches. */

export const variants = [
  { model: 'small', effort: 'low' },
  { model: 'small', effort: 'high' },
  { model: 'large', effort: 'high' },
] as const;

export const topics = [
  'Review the invoice rounding and name every place that loses a cent',
  'Find queries without an index in the ledger module',
  'Explain why the refund test is flaky, with a fix',
  'List endpoints that do not check the scope of their key',
  'Rewrite the currency parser so that it refuses mixed separators',
  'Check the migration of March for rows that it leaves behind',
  'Say which errors of the payment gateway are safe to repeat',
  'Measure the memory of the nightly export and halve it',
] as const;

/** Answers of one topic share most of their lines, as answers of several models do. */
export function answerOf(topic: string, model: string, index: number): string {
  const lines = [
    `## ${topic}`,
    '',
    'I read the module and its tests before I changed anything.',
    `Three places matter; the ${model === 'large' ? 'second' : 'first'} one is where it goes wrong.`,
    '',
    '1. `totals.ts` adds rounded lines instead of rounding the sum.',
    ...(index % 2 === 0 ? ['2. `refund.ts` takes the rate of today, not that of the sale.'] : []),
    `3. The test waits ${100 + (index % 7) * 50} ms for a job that has no upper bound.`,
    '',
    'Proposed change:',
    '',
    '    const total = round(sum(lines.map((line) => line.net)));',
    ...(index % 3 === 0 ? ['    if (total !== invoice.total) throw new RoundingError(invoice.id);'] : []),
    '',
    `All ${240 + (index % 5)} tests pass.`,
  ];
  return lines.join('\n');
}
