export type MarkdownNode = string | MarkdownElement;
export interface MarkdownElement {
  readonly tag: string;
  readonly href?: string;
  readonly children: readonly MarkdownNode[];
}
export function parseMarkdown(text: string): MarkdownNode[];
