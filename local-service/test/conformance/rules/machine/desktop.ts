import { section, untestable } from '../rule-record.js';

export const desktopRules = {
  ...section('POST /sandboxes/{sandboxId}/desktop', {
    'desktop.stream-url': 'Returns a desktop stream URL if a desktop is available.',
    'desktop.vnc': '`vnc=1` returns a VNC URL.',
    'desktop.public-access': '`publicAccess: true` returns a VNC URL that needs no access token.',
    'desktop.body-optional': 'The body is optional.',
    'desktop.secret': untestable(
      'Returned URLs are secrets.',
      'What callers do with a URL cannot be seen over HTTP; that ours keep it from workflows is tested in test/activities.',
    ),
  }),
  ...section('Endpoint inventory', {
    'ssh.key': 'POST /sandboxes/{sandboxId}/sshkey configures an SSH key that opens a shell in the sandbox.',
    'ssh.no-other-key': 'A key that was not configured is refused.',
  }),
};
