import type { PageItem } from '../../page-data.js';

export interface Matrix {
  readonly rows: Map<string, string>;
  readonly columns: string[];
  readonly cells: Map<string, PageItem[]>;
}
export function matrixOf(items: readonly PageItem[]): Matrix | null;
export function cellKey(row: string, column: string): string;
