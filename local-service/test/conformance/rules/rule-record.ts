/** The format of the specification's statements. */

/** A statement of the specification that a test can check. */
export interface RuleRecord {
  /** Heading of the specification that states it, or its source page. */
  readonly section: string;
  /** The rule in short. */
  readonly says: string;
  /** Why no HTTP call can show whether it is true. */
  readonly untestable?: string;
}

interface Untestable {
  readonly says: string;
  readonly untestable: string;
}

/** A statement that no HTTP call can prove or refute. */
export function untestable(says: string, why: string): Untestable {
  return { says, untestable: why };
}

/** The rules under one heading: their stable ids, which tests name, and their texts. */
export function section<const Id extends string>(
  heading: string,
  statements: Readonly<Record<Id, string | Untestable>>,
): Readonly<Record<Id, RuleRecord>> {
  const entries = Object.entries<string | Untestable>(statements).map(([id, statement]) => [
    id,
    { section: heading, ...(typeof statement === 'string' ? { says: statement } : statement) },
  ]);
  return Object.fromEntries(entries) as Record<Id, RuleRecord>;
}
