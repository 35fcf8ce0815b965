import { section } from '../rule-record.js';

export const deletionRules = {
  ...section('DELETE /sandboxes/{sandboxId}', {
    'deletion.confirm-header': 'It requires `X-Svc-Confirm-Delete`.',
    'deletion.confirm-exact': 'The header equals the id of the target exactly.',
    'deletion.accepted': 'It returns 202.',
    'deletion.never-cancelled': 'It cannot be cancelled.',
    'deletion.poll': 'GET /deletion-operations/{operationId} is polled until `status` is `completed`.',
    'deletion.gone': 'A deleted sandbox is not found any more.',
  }),
  ...section('Endpoint inventory', {
    'deletion.snapshot': 'DELETE /snapshots/{snapshotId} deletes a snapshot permanently.',
  }),
};
