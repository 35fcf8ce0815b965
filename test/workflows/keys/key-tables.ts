/** The tables of "The smallest keys" in docs/security.md. */
import { readSource } from '../../unit/house/source-imports.js';

const section = readSource('docs/security.md').split('\n## The smallest keys\n')[1]?.split('\n## ')[0] ?? '';

/** The rows of both tables, as cells. */
const rows = section
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );

const namesIn = (cell: string | undefined) => [...`${cell}`.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

/** The rows of the worker: an action, and what a worker without it does not do. */
export const workerRows = rows
  .filter((cells) => cells.length === 2)
  .map(([action = '', lost = '']) => [action.replaceAll('`', ''), lost]);

/** The actions of a command of the table, by the words of its row. */
export const commandRows = new Map(
  rows
    .filter((cells) => cells.length === 3)
    .flatMap(([commands, needs, more]) =>
      namesIn(commands).map((command) => [command, { needs: namesIn(needs), more: namesIn(more) }] as const),
    ),
);
