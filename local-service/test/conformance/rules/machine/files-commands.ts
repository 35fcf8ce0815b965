import { section } from '../rule-record.js';

export const fileAndCommandRules = section('Endpoint inventory', {
  'files.read': 'GET /sandboxes/{sandboxId}/files reads a file.',
  'files.write': 'PUT /sandboxes/{sandboxId}/files writes a file.',
  'files.artifact': 'GET /sandboxes/{sandboxId}/artifacts downloads an artifact.',
  'commands.run': 'POST /sandboxes/{sandboxId}/commands executes a command.',
});
