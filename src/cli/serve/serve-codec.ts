/** What `sandflow codec-server` does. */

import { resolve } from 'node:path';
import { createCodecServer, createPayloadCodec } from '../../encryption/index.js';
import { aborted } from '../../os/aborted.js';
import { requireSecretFile } from '../../os/secret-file.js';
import { openEncryption } from '../connect/encryption.js';
import type { CliIo } from '../io.js';
import { badConfiguration } from '../usage-error.js';
import type { CodecOptions } from './options.js';
import { listened, sayReady } from './serving.js';

/** Serves until the first Ctrl-C or SIGTERM. Calls neither Temporal nor the service. */
export async function serveCodec(port: number, options: CodecOptions, io: CliIo): Promise<void> {
  const { ring } = await openEncryption(await io.readConfig({ checksHome: false }));
  if (!ring) {
    throw badConfiguration(
      'The codec server needs encryption keys. Set SANDFLOW_ENCRYPTION_KEYS_FILE to the file that holds them.',
    );
  }
  const token = (await requireSecretFile(resolve(io.cwd, options.tokenFile), { what: 'the --token-file' })).trim();
  const server = createCodecServer({ codec: createPayloadCodec(ring), token, origins: options.origin });
  const { url } = await listened(server.listen({ port, host: options.host }));
  try {
    sayReady(io, { url, text: `The codec server listens at ${url}; callers must send the token.` }, options);
    await aborted(io.interrupted);
  } finally {
    await server.close();
  }
}
