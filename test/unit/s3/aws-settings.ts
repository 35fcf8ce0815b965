import { vi } from 'vitest';

/** The key that the test servers know. */
export const testKey = { id: 'TESTACCESSKEY', secret: 'a-secret-key-of-tests-0123456789' } as const;

/** Gives this process AWS's own settings until the end of the test. */
export function useBucketAt(endpoint: string, others: Readonly<Record<string, string | undefined>> = {}): void {
  const settings = {
    AWS_ENDPOINT_URL_S3: endpoint,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: testKey.id,
    AWS_SECRET_ACCESS_KEY: testKey.secret,
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EC2_METADATA_DISABLED: 'true',
    ...others,
  };
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
}
