import { section } from '../rule-record.js';

export const hydrationRules = section('Sandbox, `hydration`', {
  'hydration.required': '`hydration` has phase, entriesDone, entriesTotal and percent.',
  'hydration.phases':
    '`phase` is dvol, sysdelta, images, hydrating or reconciling; degraded and stuck mean a retried step.',
  'hydration.failed-step-retried': 'A step that failed (`degraded`, `stuck`) is retried.',
  'hydration.entries-done': '`entriesDone` is an integer that counts what has been copied so far.',
  'hydration.entries-total': '`entriesTotal` is null until the system files are counted, then an integer.',
  'hydration.percent': '`percent` is an integer from 0 to 99, or null.',
  'hydration.changed-files': 'Files that the user changes during the restore are not copied over.',
  'hydration.end-signal': '`hydrated` is the end signal; `percent` can stop short of 99.',
});
