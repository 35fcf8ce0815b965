import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openNotifying } from '../../../../src/cli/notify/files.js';
import { readConfig } from '../../../../src/config.js';
import { temporaryDirectory } from '../temporary-directory.js';

test('a worker does not start without the file of secrets that was named', async () => {
  const home = await temporaryDirectory();
  const open = (env: Record<string, string>) => openNotifying(readConfig({ SANDFLOW_HOME: home, ...env }));
  expect((await open({})).notifySecrets).toBeDefined();
  await expect(open({ SANDFLOW_NOTIFY_SECRET_FILE: join(home, 'none') })).rejects.toThrow('does not exist');
});
