/** Which hosts of URLs are this machine. */

/** @param hostname as `URL` gives it: lower case, IPv6 in brackets, IPv4 in four decimal numbers */
export function isLoopbackHost(hostname: string): boolean {
  const host = hostname.replace(/\.$/, '');
  return host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
}
