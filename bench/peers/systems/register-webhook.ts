import { createPlainApi } from '../plain/api.js';

/** @returns the secret of the webhook */
export async function registerWebhook(serviceUrl: string, port: number): Promise<string> {
  const api = createPlainApi({ serviceUrl, apiKey: 'bench-setup' });
  const { secret } = await api.registerWebhook(`http://127.0.0.1:${port}/`);
  await api.close();
  return secret;
}
