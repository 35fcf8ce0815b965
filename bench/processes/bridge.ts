/** Runs the bridge as a process. */
import { createBridge, createSecretSource } from '../../src/bridge/index.js';
import { createEncryptedDataConverter, readKeyRing } from '../../src/encryption/index.js';
import { clientOfWorker, connectWorker } from '../../src/temporal/connect-worker.js';
import { serve } from './entry.js';

export interface BridgeSettings {
  readonly temporalAddress: string;
  readonly port: number;
  readonly secretFile: string;
  /** A file of encryption keys. Default: nothing is encrypted. */
  readonly keysFile?: string;
}

await serve<BridgeSettings>(async ({ temporalAddress, port, secretFile, keysFile }) => {
  const connected = await connectWorker({ address: temporalAddress });
  const dataConverter = keysFile === undefined ? undefined : createEncryptedDataConverter(await readKeyRing(keysFile));
  const temporalClient = clientOfWorker(connected, { dataConverter });
  const bridge = createBridge({ temporalClient, secrets: createSecretSource({ fixed: [], file: secretFile }) });
  const { url } = await bridge.listen({ port });
  return {
    url,
    async close() {
      await bridge.close();
      await connected.connection.close();
    },
  };
});
