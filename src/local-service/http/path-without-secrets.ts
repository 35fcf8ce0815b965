/** The address of a request as it may be kept: a call book is read by people, and shown. */
import { endpoints } from '../../contract/endpoints.js';

const maxSegmentLength = 128;

/** Parameters that the contract knows; none holds a secret. */
const knownParameters: ReadonlySet<string> = new Set([
  ...Object.values(endpoints).flatMap((endpoint) => ('query' in endpoint ? Object.keys(endpoint.query.shape) : [])),
]);

const redacted = '[redacted]';

/** Leaves out the values of query parameters that nobody listed, and parts of the path that look like a secret. */
export function pathWithoutSecrets(url: string): string {
  const at = url.indexOf('?');
  const path = (at < 0 ? url : url.slice(0, at)).split('/').map(plainSegment).join('/');
  if (at < 0) return path;
  const query = url
    .slice(at + 1)
    .split('&')
    .map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return value.length === 0 || knownParameters.has(name) ? pair : `${name}=${redacted}`;
    });
  return `${path}?${query.join('&')}`;
}

function plainSegment(segment: string): string {
  return /whsec_|bearer/i.test(segment) || segment.length > maxSegmentLength ? redacted : segment;
}
