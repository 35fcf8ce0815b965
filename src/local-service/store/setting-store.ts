/** Single values that outlive the process, such as the state of the clock. */
import type { Database } from './database.js';

export function createSettingStore(database: Database) {
  const get = database.prepare<{ document: string }>('SELECT document FROM settings WHERE name = ?');
  const put = database.prepare('INSERT OR REPLACE INTO settings VALUES (?, ?)');
  return {
    get<Value>(name: string) {
      const row = get.get(name);
      return row && (JSON.parse(row.document) as Value);
    },
    put: (name: string, value: unknown) => void put.run(name, JSON.stringify(value)),
  };
}
