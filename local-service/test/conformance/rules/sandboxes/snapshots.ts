import { section } from '../rule-record.js';

export const snapshotRules = {
  ...section('Endpoint inventory', {
    'snapshots.list': 'GET /snapshots lists the snapshots of the account.',
    'snapshots.list-of-sandbox': 'GET /sandboxes/{sandboxId}/snapshots lists those of one sandbox.',
    'snapshots.latest': 'GET /sandboxes/{sandboxId}/snapshots/latest is the latest one.',
    'snapshots.tree': 'GET /snapshots/{snapshotId}/tree is its file tree.',
    'snapshots.file': 'GET /snapshots/{snapshotId}/files downloads a file.',
    'snapshots.folder': 'GET /snapshots/{snapshotId}/files downloads a folder.',
    'snapshots.download': 'GET /snapshots/{snapshotId}/download downloads the whole snapshot.',
  }),
  ...section('POST /sandboxes and POST /sandboxes/{sandboxId}/fork', {
    'snapshots.create-from-named': 'A sandbox can be created from a named snapshot.',
  }),
  ...section('Limits', {
    'snapshots.expire-14-days': 'The snapshot data of a stopped sandbox is deleted 14 days after the stop.',
  }),
};
