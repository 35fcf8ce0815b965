/** Rotates the secret of a webhook on a worker of the deployment, as a user's workflow may. */
import { proxyActivities } from '@temporalio/workflow';
import type { SandflowActivities } from '../../../../activities/index.js';

const { rotateWebhookSecret } = proxyActivities<Pick<SandflowActivities, 'rotateWebhookSecret'>>({
  taskQueue: 'sandflow',
  startToCloseTimeout: '1 minute',
  heartbeatTimeout: '10 seconds',
});

export function rotateSecret(webhookId: string): ReturnType<typeof rotateWebhookSecret> {
  return rotateWebhookSecret(webhookId);
}
