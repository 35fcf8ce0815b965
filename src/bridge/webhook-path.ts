/** Path of the deliveries of the service, below the base URL of a bridge. */
export const webhookPath = '/webhooks/sandbox';
