import { section } from '../rule-record.js';

export const stopRules = {
  ...section('StopOperation', {
    'stops.required': 'A stop has id, status, requestedAt, lastAttemptAt, error and endedAt.',
    'stops.id-form': '`id` is `stop_` and hex, and stable.',
    'stops.same-id-while-pending': 'Calling stop again while pending returns the same id.',
    'stops.pending': '`pending`: accepted, the sandbox is archiving.',
    'stops.failing': '`failing`: the last attempt failed, see `error`.',
    'stops.failing-retried': 'A failing stop is retried automatically until archived.',
    'stops.work-does-not-cancel': 'Running commands or prompts does not cancel a failing stop.',
    'stops.completed': '`completed`: the sandbox is archived.',
    'stops.superseded': '`superseded`: a resume ended it first.',
    'stops.requested-at': '`requestedAt` on the sandbox is null once the stop has ended; read by id it is kept.',
    'stops.last-attempt-at': '`lastAttemptAt` is when the last archival attempt ended.',
    'stops.error': '`error` says why the last attempt failed while failing; otherwise null.',
    'stops.ended-at': '`endedAt` is when it completed or was superseded; null before.',
  }),
  ...section('States and transitions', {
    'stops.status-moves':
      'pending → completed; pending → failing → pending or completed; pending or failing → superseded.',
  }),
  ...section('GET /sandboxes/{sandboxId}/stops/{stopId}', {
    'stops.get': '200 with type `stop.status`, `id` and `stop`.',
    'stops.get-unknown': '404 when the stop id is unknown.',
    'stops.get-other-sandbox': '404 when the stop belongs to another sandbox.',
    'stops.get-old': 'Old stops remain readable after a resume or a later stop.',
    'stops.get-unauthorized': '401 without a valid key.',
  }),
  ...section('POST /sandboxes/{sandboxId}/stop', {
    'stops.post': 'Takes no body; returns a stop with its id, type `sandbox.stopping`.',
    'stops.keeps-snapshots': 'Archiving keeps snapshots for resume.',
  }),
};
