/** The /etc/resolv.conf of a network of a sandbox's own: this machine's, but for who is asked. */
import { readFileSync } from 'node:fs';
import { resolverAddress } from './routes.js';

/** @param own that of this machine; read by default */
export function resolverText(own = readOwn()): string {
  const kept = own.split('\n').filter((line) => /^\s*(search|domain|options)\s/.test(line));
  return `${[`nameserver ${resolverAddress}`, ...kept].join('\n')}\n`;
}

function readOwn(): string {
  try {
    return readFileSync('/etc/resolv.conf', 'utf8');
  } catch {
    return '';
  }
}
