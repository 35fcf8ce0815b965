/** How the statements of the specification are written down. */

/** A statement of the specification that a test can be held against. */
export interface RuleRecord {
  /** Heading of the specification that states it, or the page that it comes from. */
  readonly section: string;
  /** The rule in short. */
  readonly says: string;
  /** Why no call over HTTP can show whether it holds. */
  readonly untestable?: string;
}

interface Untestable {
  readonly says: string;
  readonly untestable: string;
}

/** A statement that no call over HTTP can prove or refute. */
export function untestable(says: string, why: string): Untestable {
  return { says, untestable: why };
}

/** The rules under one heading: their ids, which are stable because tests name them, and what each says. */
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
