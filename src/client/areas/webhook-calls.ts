import type { CreateWebhookBody, UpdateWebhookBody } from '../../contract/requests/sandbox-requests.js';
import type { Answer, CallOptions } from '../call-options.js';

export interface WebhookCalls {
  /** Not safe to repeat: each call that arrives creates a webhook. The `secret` is shown only here. */
  createWebhook(body: CreateWebhookBody, options?: CallOptions): Answer<'createWebhook'>;
  listWebhooks(options?: CallOptions): Answer<'listWebhooks'>;
  getWebhook(webhookId: string, options?: CallOptions): Answer<'getWebhook'>;
  updateWebhook(webhookId: string, body: UpdateWebhookBody, options?: CallOptions): Answer<'updateWebhook'>;
  deleteWebhook(webhookId: string, options?: CallOptions): Answer<'deleteWebhook'>;
  /** Each call replaces the secret again. Repeat until one answer has been read and its secret stored. */
  rotateWebhookSecret(webhookId: string, options?: CallOptions): Answer<'rotateWebhookSecret'>;
}
