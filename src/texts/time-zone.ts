/**
 * True for the IANA name of a time zone, such as `Europe/Vienna`, in its own letters: Temporal's server distinguishes
 * capital letters, and knows no offset such as `+01:00`.
 */
export function isTimeZone(zone: string): boolean {
  if (!zone.split('/').every((part) => /^[A-Z]/.test(part))) return false;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en-US', { timeZone: zone }).resolvedOptions();
    // Another name of the same zone, such as Asia/Kolkata, differs by more than its letters.
    return timeZone === zone || timeZone.toLowerCase() !== zone.toLowerCase();
  } catch {
    return false;
  }
}
