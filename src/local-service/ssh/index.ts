/** SSH into the sandboxes of the local service. */
export { loadHostKey } from './host-key.js';
export { type PublicKey, parsePublicKey } from './public-key.js';
export { SshError } from './ssh-error.js';
export { createSshServer, type SshServer, type SshServerOptions } from './ssh-server.js';
