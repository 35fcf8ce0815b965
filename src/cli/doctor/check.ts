/** One finding of `doctor`. */

export interface Check {
  /** What was checked: `temporal`, `workers`, `service`, `key`, `clock`, `webhook`, `secret`, `bridge`, `retention`,
   * `account`, `isolation`, `encryption`. */
  readonly name: string;
  readonly status: 'ok' | 'warning' | 'failed' | 'skipped';
  readonly message: string;
  /** What to do about it; null where nothing is to be done. */
  readonly mend: string | null;
}

export function ok(name: string, message: string): Check {
  return { name, status: 'ok', message, mend: null };
}

export function warning(name: string, message: string, mend: string): Check {
  return { name, status: 'warning', message, mend };
}

export function failed(name: string, message: string, mend: string): Check {
  return { name, status: 'failed', message, mend };
}

export function skipped(name: string, message: string): Check {
  return { name, status: 'skipped', message, mend: null };
}
