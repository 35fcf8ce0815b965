/** The fields of a test that the document needs. */
export interface NamedTest {
  /** Relative to the root of the project. */
  readonly file: string;
  /** With the ids of its rules in front. */
  readonly title: string;
  readonly rules: readonly string[];
  readonly needs: readonly string[];
}

/** A cell of a Markdown table. */
export function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
